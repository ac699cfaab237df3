import HTTP
import Identity
import Localization

struct RemovalText: Sendable {
  let pages: SupportPages
  let target: SupportTarget

  private var times: Times { target.times }

  /// Returns what a removal would do, without doing it.
  func consequences(of factor: ID<Factor>?) async throws(Refusal) -> Removal {
    try await pages.finding { () async throws(ActionDenial) in
      try await pages.identity.factorRemovals.consequences(target.scope, target.user, factor)
    }
  }

  /// Returns the consequences as sentences; first whether a second administrator must approve.
  func sentences(_ removal: Removal) async throws(Refusal) -> [Message] {
    let need = try await refusing {
      try await pages.identity.approvals.need(for: removal, in: target.scope)
    }
    let sentences: [Message?] = [
      need.map { ApprovalText.need($0) },
      removal.isOfAll ? Self.removed(removal.factors) : nil,
      SessionText.ending(
        removal.sessionsEnded, none: Message("factors.user-has-no-sessions")),
      removal.factorsRequired == 0
        ? signIn(removal.signInWithoutFactor)
        : Message("factors.still-required", ["count": .number(removal.factorsRequired)]),
      removal.endsTemporaryCode ? Message("factors.temporary-code-revoked") : nil,
      removal.recoveryCodesEnded == 0
        ? nil
        : Message("factors.recovery-codes-revoked", ["count": .number(removal.recoveryCodesEnded)]),
      Self.undoing(withinHours: removal.undoHours),
    ]
    return sentences.compactMap { $0 }
  }

  private func signIn(_ next: SignInWithoutFactor) -> Message {
    switch next {
    case .accepted: Message("factors.first-factor-only")
    case .enforced(.claim, nil): Message("factors.first-factor-and-claim")
    case .enforced(.claim, let from?):
      Message("factors.first-factor-claim-later", ["time": times.value(from)])
    case .enforced(.refuse, nil): Message("factors.sign-in-refused")
    case .enforced(.refuse, let from?):
      Message("factors.first-factor-refused-later", ["time": times.value(from)])
    }
  }

  private static func removed(_ factors: [Factor]) -> Message {
    Message(
      "factors.are-removed",
      ["count": .number(factors.count), "names": .sequence(FactorText.names(factors))])
  }

  private static func undoing(withinHours hours: Int) -> Message {
    hours == 0
      ? Message("factors.removal-is-final")
      : Message("factors.removal-can-be-undone", ["time": .message(Formatted.hours(hours))])
  }

  func result(_ outcome: ActionOutcome<RemovalOutcome>) -> SupportResult {
    switch outcome.value {
    case .done(let removal):
      let undo = removal.hold.map {
        Link(
          text: Message("factors.ask-another-administrator"),
          href: ConsolePaths.undo(target.scope, target.uid, $0.id.text))
      }
      return SupportResult(done(removal), link: undo, after: outcome)
    case .waits(_, let until):
      return SupportResult(
        Message("factors.removal-waits", ["until": times.value(until)]),
        link: Link(text: Message("factors.approvals"), href: ConsolePaths.approvals()),
        after: outcome)
    }
  }

  static func closing(_ denial: ActionDenial) -> SupportClosing? {
    guard case .factorNotFound = denial else { return nil }
    return SupportClosing(text: Message("factors.already-removed"), checksUser: true)
  }

  private func done(_ removal: Removal) -> Message {
    let removed =
      removal.isOfAll
      ? Message("factors.removed-count", ["count": .number(removal.factors.count)])
      : Message("factors.removed-one", ["name": FactorText.name(removal.factors[0])])
    let next =
      removal.factorsRequired == 0
      ? signIn(removal.signInWithoutFactor)
      : Message("factors.others-remain", ["count": .number(removal.factorsRequired)])
    let sessions = SessionText.ended(removal.sessionsEnded)
    guard let hold = removal.hold else {
      return Message(
        "factors.removal-done",
        ["removed": .message(removed), "sessions": .message(sessions), "next": .message(next)])
    }
    return Message(
      "factors.removal-done-with-undo",
      [
        "removed": .message(removed), "sessions": .message(sessions), "next": .message(next),
        "until": times.value(hold.until),
      ])
  }
}
