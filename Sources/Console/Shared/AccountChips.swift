import Identity
import Localization
import Templating

enum AccountChips {
  static let never = HTML.soft(Message("never"))

  /// That no use is known, which at another server may be one that isn't told.
  static func lastUse(in pool: Pool) -> Markup { pool.kind == .hosted ? never : HTML.none }

  private static let verified = Chip.on(Message("email verified"))
  private static let unverified = Chip.look(Message("email not verified"))
  private static let noEmail = Chip.off(Message("no email"))
  private static let gone = Chip.off(Message("gone"))
  private static let disabled = Chip.bad(Message("disabled"))
  static let suspended = Chip.look(Message("suspended"))
  private static let protected = Chip.off(Message("protected"))
  private static let changesLocked = Chip.bad(Message("changes locked by user"))
  private static let clockOff = Chip.look(Message("clock off"))
  private static let closed = Chip.bad(Message("locked"))
  private static let blocked = Chip.look(Message("codes temporarily blocked"))

  /// Returns what's unusual about an account, for a list: its most important state, and whether it's
  /// protected; nil if nothing is.
  static func state(_ account: AccountSummary, _ lock: CodeLock, isSuspended: Bool) -> Markup? {
    let hasUnverifiedEmail = account.email != nil && !account.emailVerified
    let unusable = account.goneAt != nil ? gone : account.disabled ? disabled : nil
    let state =
      unusable ?? self.lock(lock) ?? (account.isReported ? changesLocked : nil)
      ?? (isSuspended ? suspended : account.isClockOff ? clockOff : nil)
      ?? (hasUnverifiedEmail ? unverified : nil)
    guard account.isProtected else { return state }
    guard let state else { return protected }
    return "<span>\(state) \(protected)</span>"
  }

  static func lock(_ lock: CodeLock) -> Markup? {
    switch lock {
    case .open: nil
    case .blocked: blocked
    case .closed: closed
    }
  }

  static func words(_ lock: CodeLock) -> Message? {
    switch lock {
    case .open: nil
    case .blocked: Message("codes temporarily blocked")
    case .closed: Message("locked")
    }
  }

  static func stateText(_ account: AccountSummary, at now: Instant) -> Message {
    if account.goneAt != nil { return Message("gone") }
    if account.disabled { return Message("disabled") }
    if let words = words(account.codeLock(at: now)) { return words }
    if account.isReported { return Message("changes locked by user") }
    if account.isSuspended(at: now) { return Message("suspended") }
    if account.isClockOff { return Message("clock off") }
    if account.email == nil { return Message("no email") }
    return account.emailVerified
      ? Message("email verified") : Message("email not verified")
  }

  static func email(_ account: Account) -> Markup {
    account.email == nil ? noEmail : account.emailVerified ? verified : unverified
  }

  /// The state of the email address that it follows; nil without one.
  static func verification(_ account: Account) -> Markup? {
    guard account.email != nil else { return nil }
    return account.emailVerified
      ? Chip.on(Message("verified")) : Chip.look(Message("not verified"))
  }

  static func problems(_ account: Account, _ drift: ClockDrift?, at now: Instant) -> Markup {
    var chips: [Markup] = []
    if account.goneAt != nil { chips.append(gone) }
    if account.disabled { chips.append(disabled) }
    if let lock = lock(account.codeLock(at: now)) { chips.append(lock) }
    if let drift { chips.append(Chip.look(CodeAttemptText.clock(drift))) }
    if account.factors.contains(where: { $0.isSuspended(at: now) }) { chips.append(suspended) }
    if account.changesLockedAt != nil { chips.append(changesLocked) }
    if account.isProtected { chips.append(protected) }
    return Markup(joining: chips.map { " \($0)" })
  }
}

enum SessionText {
  /// That all sessions end, where another server knows how many there are.
  static let endingElsewhere = Message(
    "All sessions end. ID tokens already issued to applications can stay valid for up to an hour.")

  /// Returns how many sessions of a user will end, as far as it's known.
  static func ending(_ count: Int, in pool: Pool) -> Message {
    pool.kind == .hosted ? ending(count) : endingElsewhere
  }

  /// Returns how many sessions ended; `none` is the sentence for no active sessions.
  static func ended(
    _ count: Int, none: Message = Message("There were no active sessions.")
  ) -> Message {
    count == 0
      ? none
      : Message(
        one: "{count} session ended.", other: "{count} sessions ended.", ["count": .number(count)])
  }

  /// Returns how many sessions will end; `none` is the sentence for no active sessions.
  static func ending(
    _ count: Int, none: Message = Message("There are no active sessions.")
  ) -> Message {
    count == 0
      ? none
      : Message(
        one: """
          {count} session ends immediately. ID tokens already issued to applications can stay valid \
          for up to an hour.
          """,
        other: """
          {count} sessions end immediately. ID tokens already issued to applications can stay valid \
          for up to an hour.
          """, ["count": .number(count)])
  }
}
