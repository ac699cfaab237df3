import HTTP
import Identity

/// What the removals of one factor and of all factors have in common.
struct RemovalWords: Sendable {
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
  func sentences(_ removal: Removal) async throws(Refusal) -> [String] {
    let need = try await refusing {
      try await pages.identity.approvals.need(for: removal, in: target.scope)
    }
    let factors = removal.factors
    let names = factors.map { "“\(Words.isolated($0.label))”" }.joined(separator: ", ")
    return [
      need.map(ApprovalWords.need),
      removal.isOfAll
        ? "\(Words.count(factors.count, "factor is", "factors are")) removed: \(names)." : nil,
      SessionWords.ending(
        removal.sessionsEnded, none: "This user has no active sessions."),
      removal.factorsLeft == 0
        ? "Until they enroll again, the user can sign in with a first factor only."
        : "\(Words.count(removal.factorsLeft, "other factor remains and is", "other factors remain and are")) required at sign-in.",
      removal.endsTemporaryCode ? "The user’s temporary code is revoked." : nil,
      removal.recoveryCodesEnded == 0
        ? nil
        : "\(Words.count(removal.recoveryCodesEnded, "recovery code is", "recovery codes are")) revoked. Undoing the removal doesn’t restore \(removal.recoveryCodesEnded == 1 ? "it" : "them").",
      pages.notice(to: removal.account),
      removal.undoHours == 0
        ? "This can’t be undone. To use a second factor again, the user must enroll again."
        : "Another administrator can undo the removal for \(Words.hours(removal.undoHours)), or until the user enrolls again. Removals for “Stolen device” or “Compromised” can’t be undone.",
    ].compactMap { $0 }
  }

  /// Returns what confirms a removal or its request.
  func result(_ outcome: ActionOutcome<RemovalOutcome>) -> SupportResult {
    switch outcome.value {
    case .done(let removal):
      let undo = removal.apart.map {
        Link(
          text: "Ask another administrator",
          href: ConsolePaths.undo(target.scope, target.uid, $0.id.text))
      }
      return SupportResult(done(removal), link: undo, after: outcome)
    case .waits(_, let until):
      return SupportResult(
        "Nothing is removed yet. A second administrator must approve by \(times.words(until)).",
        link: Link(text: "Approvals", href: ConsolePaths.approvals()), after: outcome)
    }
  }

  static func closing(_ denial: ActionDenial) -> SupportClosing? {
    guard case .factorNotFound = denial else { return nil }
    return SupportClosing(text: "Already removed. No changes made.", checksUser: true)
  }

  private func done(_ removal: Removal) -> String {
    let what =
      removal.isOfAll
      ? Words.count(removal.factors.count, "factor", "factors")
      : "the factor “\(Words.isolated(removal.factors[0].label))”"
    let next =
      removal.factorsLeft == 0
      ? "Until they enroll again, the user can sign in with a first factor only."
      : "\(Words.count(removal.factorsLeft, "other factor remains", "other factors remain"))."
    let undo = removal.apart.map {
      " Another administrator can undo it until \(times.words($0.until))."
    }
    return "Removed \(what). \(SessionWords.ended(removal.sessionsEnded)) \(next)\(undo ?? "")"
  }
}
