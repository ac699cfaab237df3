import Identity
import Localization
import Templating

/// Chips for the states of an account.
enum AccountChips {
  private static let totp = Chip.on(Factor.Kind.totp.name)
  private static let phone = Chip.on(Factor.Kind.phone.name)
  private static let both = {
    // One element, because on small screens the cell is laid out as a row next to its heading.
    var html = HTML()
    html.raw("<span>")
    html.add(totp)
    html.raw(" ")
    html.add(phone)
    html.raw("</span>")
    return html.markup
  }()
  private static let noFactor = Chip.off(Message("users.no-factor"))
  static let never = {
    var html = HTML()
    html.raw("<span class=\"soft\">")
    html.message(Message("users.never"))
    html.raw("</span>")
    return html.markup
  }()
  private static let verified = Chip.on(Message("users.email-verified"))
  private static let unverified = Chip.look(Message("users.email-not-verified"))
  private static let noEmail = Chip.off(Message("users.no-email"))
  private static let disabled = Chip.bad(Message("users.disabled"))
  static let suspended = Chip.look(Message("users.suspended"))
  private static let protected = Chip.off(Message("users.protected"))
  private static let changesLocked = Chip.bad(Message("users.changes-locked"))
  private static let closed = Chip.bad(Message("users.locked"))
  private static let blocked = Chip.look(Message("users.codes-blocked"))

  /// Returns chips for the kinds of second factors; nil for none.
  static func factors(totp hasTOTP: Bool, phone hasPhone: Bool) -> Markup? {
    switch (hasTOTP, hasPhone) {
    case (true, true): both
    case (true, false): totp
    case (false, true): phone
    case (false, false): nil
    }
  }

  /// Returns chips for an account's kinds of second factors in a list.
  static func listed(_ account: AccountSummary) -> Markup {
    factors(totp: account.hasTOTP, phone: account.hasPhone) ?? noFactor
  }

  /// Returns the most important state of an account for a list, and whether it's protected.
  static func state(_ account: AccountSummary, _ lock: CodeLock, isSuspended: Bool) -> Markup {
    let state =
      account.disabled
      ? disabled
      : self.lock(lock)
        ?? (isSuspended
          ? suspended : email(hasEmail: account.email != nil, isVerified: account.emailVerified))
    guard account.isProtected else { return state }
    var html = HTML()
    html.raw("<span>")
    html.add(state)
    html.raw(" ")
    html.add(protected)
    html.raw("</span>")
    return html.markup
  }

  /// Returns a chip for locked codes; nil if codes are accepted.
  static func lock(_ lock: CodeLock) -> Markup? {
    switch lock {
    case .open: nil
    case .blocked: blocked
    case .closed: closed
    }
  }

  /// Returns an account's most important state as text.
  static func stateWords(_ account: AccountSummary, at now: Instant) -> Message {
    if account.disabled { return Message("users.disabled") }
    switch account.codeLock(at: now) {
    case .open: break
    case .blocked: return Message("users.codes-blocked")
    case .closed: return Message("users.locked")
    }
    if account.isSuspended(at: now) { return Message("users.suspended") }
    if account.email == nil { return Message("users.no-email") }
    return account.emailVerified
      ? Message("users.email-verified") : Message("users.email-not-verified")
  }

  static func email(_ account: Account) -> Markup {
    email(hasEmail: account.email != nil, isVerified: account.emailVerified)
  }

  private static func email(hasEmail: Bool, isVerified: Bool) -> Markup {
    !hasEmail ? noEmail : isVerified ? verified : unverified
  }

  /// Returns chips for what's unusual about an account, for its own page.
  static func problems(_ account: Account, at now: Instant) -> Markup {
    var chips: [Markup] = []
    if account.disabled { chips.append(disabled) }
    if let lock = lock(account.codeLock(at: now)) { chips.append(lock) }
    if account.factors.contains(where: { $0.isSuspended(at: now) }) { chips.append(suspended) }
    if account.changesLockedAt != nil { chips.append(changesLocked) }
    if account.email != nil, !account.emailVerified { chips.append(unverified) }
    if account.isProtected { chips.append(protected) }
    var html = HTML()
    for chip in chips {
      html.raw(" ")
      html.add(chip)
    }
    return html.markup
  }
}
