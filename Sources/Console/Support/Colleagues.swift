import Identity
import Templating

/// Who can do what an agent may not do themselves, and the link to send them.
struct ColleaguesView: ViewModel {
  let sentence: String
  /// The whole address of the page; nil when there is nobody to send it to.
  let link: String?

  /// `deed` is what colleagues can do, such as “restore it”.
  init(_ colleagues: Colleagues, to deed: String, link: String, in scope: Scope) {
    let others = colleagues.count - colleagues.names.count
    let names = colleagues.names.map { Words.isolated($0) }
    let all =
      names.isEmpty
      ? Words.count(colleagues.count, "administrator", "administrators")
      : Words.list(names + (others > 0 ? [Words.count(others, "other", "others")] : []))
    sentence =
      colleagues.count == 0
      ? "No other administrator can \(deed). An owner can grant the support role in \(Words.isolated(scope.name))."
      : "\(all) can \(deed)."
    self.link = colleagues.count == 0 ? nil : link
  }

  static let keys: Keys<Self> = [
    .text("sentence") { $0.sentence },
    .text("link") { $0.link },
  ]
}

extension SupportPages {
  /// Who can do what a page asks in place of its agent; nil where nobody in their role could.
  func colleagues(
    for question: SupportConfirmation, on account: Account, _ context: ScopeContext, to deed: String
  ) async throws(Refusal) -> ColleaguesView? {
    let administrators = frames.identity.administrators
    guard ActionErrorText.refusal(account, context) == nil else { return nil }
    let found = try await refusing {
      try await administrators.colleagues(
        with: question.permission, in: context.scope, of: context.signedIn.administrator)
    }
    return ColleaguesView(
      found, to: deed, link: frames.publicURL.origin + question.action, in: context.scope)
  }
}
