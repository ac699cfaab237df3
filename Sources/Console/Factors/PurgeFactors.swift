import Identity

/// `S/users/{uid}/removals/{removal}/purge`: permanently deletes removed factors before the undo
/// window ends.
struct PurgeFactors: SupportAction {
  static let action = ConsoleAction.purgeFactors

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let found = try await pages.restoration(target)
    let times = target.times
    let apart = found.apart
    let secrets = apart.factors.count { $0.kind == .totp }
    var question = SupportConfirmation(
      user: found.account, title: "Delete permanently",
      heading: HTML.heading("Permanently delete factors removed from", found.account.label),
      consequences: [
        "\(Words.sentence(FactorWords.list(apart.factors))) \(apart.factors.count == 1 ? "is" : "are") deleted permanently and can’t be restored.",
        secrets == 0
          ? nil
          : "\(secrets == 1 ? "Its encrypted secret is" : "Their encrypted secrets are") overwritten in the database immediately. Existing backups still contain \(secrets == 1 ? "it" : "them"), encrypted.",
        "Sessions and other factors aren’t affected. The user isn’t notified.",
      ].compactMap { $0 },
      button: apart.factors.count == 1 ? "Delete factor permanently" : "Delete factors permanently",
      factsHeading: "Removal",
      facts: apart.factors.map { Fact("Factor", HTML.isolated(Words.short($0.label))) } + [
        Fact("Removed", times.moment(apart.removedAt)),
        Fact("Removed by", HTML.isolated(apart.removerName)),
        Fact("Restorable until", times.moment(apart.until)),
      ])
    question.reasons = [.stolen, .compromised, .left, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.factorRemovals.purge(
      target.scope, target.user, ID(target.object), request)
    return SupportResult(
      "Permanently deleted \(FactorWords.list(done.value.apart.factors)).", after: done)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    guard case .factorNotFound = denial else { return nil }
    return SupportClosing(
      text:
        "There’s nothing left to delete. The factors were already deleted or restored, the undo window ended, or the user enrolled again.",
      checksUser: true)
  }
}
