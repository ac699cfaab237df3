import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/users/{uid}/factors/{enrollment}/removal`: removes one factor of a user.
struct RemoveFactor: UserAction {
  static let action = ConsoleAction.removeFactor
  static let name = Message("Remove factor")
  static let path = PoolPath2("users", nil, "factors", nil, "removal")
  static let isDestructive = true
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .lost }

  static func label(_ offer: UserOffer) -> Message {
    Message("Remove {factor}…", ["factor": offer.name])
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let words = RemovalText(identity: identity, target: target)
    let removal = try await words.consequences(of: ID(target.object))
    let undo = try await words.undo(removal)
    let factor = removal.factors[0]
    let heading = Message(
      "Remove “{factor}” from {user}?",
      [
        "factor": FactorText.name(factor),
        "user": removal.account.shortLabel,
      ])
    var page = FormPage(
      removal.account, in: target.pool, title: Self.name, heading: heading,
      consequences: words.sentences(removal, isFinal: undo == nil),
      button: Message("Remove factor"),
      factsHeading: Message("This factor"),
      facts: FactorText.facts(factor, target.times, in: target.pool))
    page.diagnosis = try await words.known(removal)
    page.consequencesHeading = Message("After removal")
    page.undo = undo
    page.rules = removal.rules
    page.notifies = true
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.factorRemovals.remove(
      target.pool, target.user, ID(target.object), target.request)
    return try await RemovalText(identity: identity, target: target).result(done)
  }

  func denied(_ denial: ActionDenial, _ target: PoolTarget) async throws -> FieldError? {
    try await RemovalText(identity: identity, target: target).denied(denial)
  }
}

/// `S/users/{uid}/factors/removal`: removes all factors of a user.
struct RemoveAllFactors: UserAction {
  static let action = ConsoleAction.removeAllFactors
  static let name = Message("Remove all factors")
  static let path = PoolPath1("users", nil, "factors", "removal")
  static let isDestructive = true
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .takenOver }

  static func label(_ offer: UserOffer) -> Message { Message("Remove all factors…") }

  static func isOffered(_ offer: UserOffer) -> Bool { !offer.account.factors.isEmpty }

  /// The field with the ID of each factor that the page shows.
  private static let field = "enrollment"

  func page(_ target: PoolTarget) async throws -> FormPage {
    let words = RemovalText(identity: identity, target: target)
    let removal = try await words.consequences(of: nil)
    let undo = try await words.undo(removal)
    var page = FormPage(
      removal.account, in: target.pool, title: Self.name,
      heading: Message(
        "Remove all factors from {user}?", ["user": removal.account.shortLabel]
      ),
      consequences: words.sentences(removal, isFinal: undo == nil),
      button: Message("Remove all factors"),
      factsHeading: Message("Last used"),
      facts: removal.factors.map { factor in
        Fact(
          .verbatim(Formatted.short(factor.label, 40)),
          factor.lastUsedAt.map(target.times.past) ?? AccountChips.lastUse(in: target.pool))
      })
    page.hidden = removal.factors.map { HiddenField(name: Self.field, value: $0.id.text) }
    page.diagnosis = try await words.known(removal)
    page.consequencesHeading = Message("After removal")
    page.undo = undo
    page.rules = removal.rules
    page.notifies = true
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.factorRemovals.remove(
      target.pool, target.user, nil, target.request,
      seen: Set(target.form.all(Self.field).map { ID($0.text) }))
    return try await RemovalText(identity: identity, target: target).result(done)
  }

  func denied(_ denial: ActionDenial, _ target: PoolTarget) async throws -> FieldError? {
    try await RemovalText(identity: identity, target: target).denied(denial)
  }
}

struct RemovalText: Sendable {
  let identity: Identity
  let target: PoolTarget

  private var times: Times { target.times }
  private var isHosted: Bool { target.pool.kind == .hosted }

  /// Returns what the code attempts say about a factor that's to be removed; nil for nothing.
  func known(_ removal: Removal) async throws -> Message? {
    guard let evidence = try await identity.codeAttempts.drift(of: removal.account),
      removal.factors.contains(where: { $0.id == evidence.newest.enrollment })
    else { return nil }
    return CodeAttemptText.alternative(evidence.drift)
  }

  /// Returns what a removal would do, without doing it.
  func consequences(of factor: ID<Factor>?) async throws -> Removal {
    try await identity.factorRemovals.consequences(target.pool, target.user, factor)
  }

  /// Returns the consequences as sentences; first whether a second administrator must approve.
  ///
  /// `isFinal` is whether no one can undo the removal.
  func sentences(_ removal: Removal, isFinal: Bool) -> [Message] {
    let sentences: [Message?] = [
      removal.approval.map { ApprovalText.need($0) },
      removal.isOfAll ? Self.removed(removal.factors) : nil,
      isHosted
        ? SessionText.ending(
          removal.sessionsEnded, none: Message("This user has no active sessions."))
        : SessionText.endingElsewhere,
      removal.factorsRequired == 0
        ? signIn(isHosted ? removal.signInWithoutFactor : .accepted)
        : Message(
          one: "{count} other factor remains and is required at sign-in.",
          other: "{count} other factors remain and are required at sign-in.",
          ["count": .number(removal.factorsRequired)]),
      removal.endsTemporaryCode ? Message("The user’s temporary code is revoked.") : nil,
      removal.recoveryCodesEnded == 0
        ? nil
        : Message(
          one: "{count} recovery code is revoked. Undoing the removal doesn’t restore it.",
          other: "{count} recovery codes are revoked. Undoing the removal doesn’t restore them.",
          ["count": .number(removal.recoveryCodesEnded)]),
      isFinal ? Self.irreversible(withinHours: isHosted ? removal.undoHours : 0) : nil,
    ]
    return sentences.compactMap { $0 }
  }

  private func signIn(_ next: SignInWithoutFactor) -> Message {
    switch next {
    case .accepted:
      Message("Until they re-enroll, their first factor alone signs them in.")
    case .enforced(.claim, nil):
      Message(
        """
        Until they re-enroll, their first factor alone signs them in, and their ID tokens say that \
        they have to enroll.
        """)
    case .enforced(.claim, let from?):
      Message(
        """
        Until they re-enroll, their first factor alone signs them in. From {time}, their ID tokens \
        say that they have to enroll.
        """, ["time": times.value(from)])
    case .enforced(.refuse, nil):
      Message(
        """
        Until they re-enroll, server enforcement refuses their sign-ins and emails them an \
        enrollment link.
        """)
    case .enforced(.refuse, let from?):
      Message(
        """
        Until they re-enroll, their first factor alone signs them in. From {time}, server \
        enforcement refuses their sign-ins and emails them an enrollment link.
        """, ["time": times.value(from)])
    }
  }

  private static func removed(_ factors: [Factor]) -> Message {
    Message(
      one: "{count} factor is removed: {names}.", other: "{count} factors are removed: {names}.",
      ["count": .number(factors.count), "names": .sequence(FactorText.names(factors))])
  }

  /// Returns whether a removal has an undo period, and another administrator who can use it.
  private func isUndoable(_ removal: Removal) async throws -> Bool {
    // Another server has the secrets.
    guard removal.undoHours > 0, isHosted else { return false }
    return try await identity.administrators.hasOther(
      than: target.signedIn.administrator,
      with: ConsoleAction.restoreFactors.permission(on: removal.account), in: target.pool)
  }

  /// Returns how long others can undo a removal, unless the device is stolen; nil if no one can.
  func undo(_ removal: Removal) async throws -> Message? {
    guard try await isUndoable(removal) else { return nil }
    return Message(
      """
      Another administrator can undo the removal for {time}, or until the user enrolls again. \
      Removals for “Stolen device” or “Compromised” can’t be undone.
      """, ["time": .message(Formatted.hours(removal.undoHours))])
  }

  private static func irreversible(withinHours hours: Int) -> Message {
    hours > 0
      ? Message(
        """
        Nobody else can undo this, and you can’t undo your own removal. To use a second factor \
        again, the user must enroll again.
        """)
      : Message("This can’t be undone. To use a second factor again, the user must enroll again.")
  }

  func result(_ outcome: ActionOutcome<RemovalOutcome>) async throws -> FormEnd {
    switch outcome.value {
    case .done(let removal):
      var hold = removal.hold
      if hold != nil, try await !isUndoable(removal) { hold = nil }
      let undo = hold.map {
        Link(
          text: Message("Ask another administrator"),
          href: RestoreFactors.path(target.pool, target.uid, $0.id.text))
      }
      return FormEnd(
        done(removal, until: hold?.until), link: undo, at: target.userPage, after: outcome)
    case .requested(let change):
      return await identity.ended(change, in: target.pool, after: outcome)
    case .waits(_, let until):
      return FormEnd(
        Message(
          "Nothing is removed yet. A second administrator must approve by {until}.",
          ["until": times.value(until)]),
        link: Link(text: Message("Approvals"), href: ConsolePaths.approvals()),
        at: target.userPage, after: outcome)
    }
  }

  func denied(_ denial: ActionDenial) async throws -> FieldError? {
    guard case .factorNotFound = denial else { return nil }
    throw try await identity.nothingLeft(target, Message("Already removed. No changes made."))
  }

  /// Returns what was removed; `until` is until when others can undo it, nil if none can.
  private func done(_ removal: Removal, until: Instant?) -> Message {
    let removed =
      removal.isOfAll
      ? Message(
        one: "Removed {count} factor.", other: "Removed {count} factors.",
        ["count": .number(removal.factors.count)])
      : Message("Removed the factor “{name}”.", ["name": FactorText.name(removal.factors[0])])
    let next =
      removal.factorsRequired == 0
      ? signIn(removal.signInWithoutFactor)
      : Message(
        one: "{count} other factor remains.", other: "{count} other factors remain.",
        ["count": .number(removal.factorsRequired)])
    let sessions = SessionText.ended(removal.sessionsEnded)
    guard let until else {
      return Message(
        "{removed} {sessions} {next}",
        ["removed": .message(removed), "sessions": .message(sessions), "next": .message(next)])
    }
    return Message(
      "{removed} {sessions} {next} Another administrator can undo it until {until}.",
      [
        "removed": .message(removed), "sessions": .message(sessions), "next": .message(next),
        "until": times.value(until),
      ])
  }
}
