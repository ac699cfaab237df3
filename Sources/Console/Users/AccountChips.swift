import Identity
import Templating

/// Chips for the states of an account.
enum AccountChips {
  private static let totp = Chip.on("TOTP")
  private static let phone = Chip.on("phone")
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
  private static let noFactor = Chip.off("none")
  static let never = Markup(trusted: "<span class=\"soft\">never</span>")
  private static let verified = Chip.on("email verified")
  private static let unverified = Chip.look("email not verified")
  private static let noEmail = Chip.off("no email")
  private static let disabled = Chip.bad("disabled")
  static let suspended = Chip.look("suspended")
  private static let protected = Chip.off("protected")
  private static let changesLocked = Chip.bad("changes locked by user")
  private static let closed = Chip.bad("locked")
  private static let blocked = Chip.look("codes temporarily blocked")

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
  static func stateWords(_ account: AccountSummary, at now: Instant) -> String {
    if account.disabled { return "disabled" }
    switch account.codeLock(at: now) {
    case .open: break
    case .blocked: return "codes temporarily blocked"
    case .closed: return "locked"
    }
    if account.isSuspended(at: now) { return "suspended" }
    if account.email == nil { return "no email" }
    return account.emailVerified ? "email verified" : "email not verified"
  }

  static func email(_ account: Account) -> Markup {
    email(hasEmail: account.email != nil, isVerified: account.emailVerified)
  }

  private static func email(hasEmail: Bool, isVerified: Bool) -> Markup {
    !hasEmail ? noEmail : isVerified ? verified : unverified
  }

  /// Returns all chips of an account for its own page.
  static func all(_ account: Account, at now: Instant) -> Markup {
    var html = HTML()
    html.add(email(account))
    html.raw(" ")
    html.add(
      factors(totp: account.has(.totp), phone: account.has(.phone)) ?? Chip.off("no second factor"))
    if account.disabled {
      html.raw(" ")
      html.add(disabled)
    }
    if account.factors.contains(where: { $0.isSuspended(at: now) }) {
      html.raw(" ")
      html.add(suspended)
    }
    if account.isProtected {
      html.raw(" ")
      html.add(protected)
    }
    if account.changesLockedAt != nil {
      html.raw(" ")
      html.add(changesLocked)
    }
    if let lock = lock(account.codeLock(at: now)) {
      html.raw(" ")
      html.add(lock)
    }
    return html.markup
  }
}
