import HTTP
import Identity
import Text

/// `S/policy`: shows the MFA policy of a scope, and the form to change it.
///
/// Links can propose a change and open its review page: `?change=on` turns on TOTP,
/// `?change=intervals` with `&intervals=3` changes the window, and `?change=project` copies the
/// project's policy to a tenant. `?pattern=mandatory` opens the form with that pattern selected.
struct PolicyPage: Sendable {
  let pages: PolicyPages

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let policy = try await pages.current(context)
    let asked = context.signedIn.query
    var answers = PolicyAnswers(policy.edit)
    guard context.may(.changePolicy) else {
      return try await pages.page(context, policy, answers)
    }
    switch asked["change"] {
    case "on":
      answers.totp = "on"
      if case .change(let request) = answers.read() {
        return try await propose(.answers(answers, request), context)
      }
    case "intervals":
      answers.intervals = asked.trimmed("intervals")
      if case .change(let request) = answers.read() {
        return try await propose(.answers(answers, request), context)
      }
      answers = PolicyAnswers(policy.edit)
    case "project":
      if let project = try await pages.projectPolicy(context) {
        return try await propose(.likeProject(project), context)
      }
    default:
      if let pattern = asked.text("pattern").flatMap(EnrollmentPattern.init(rawValue:)) {
        answers.pattern = pattern.rawValue
      }
    }
    return try await pages.page(context, policy, answers)
  }

  /// Shows the review page of a change that a link proposes, or the form if it changes nothing.
  private func propose(
    _ proposal: PolicyProposal, _ context: ScopeContext
  ) async throws(Refusal) -> Response {
    let preview = try await pages.preview(proposal, context)
    guard !preview.changes.isEmpty else {
      let policy = preview.policy
      return try await pages.page(context, policy, PolicyAnswers(policy.edit), isUnchanged: true)
    }
    return try await pages.review(
      context, ReviewedPolicyChange(proposal: proposal, preview: preview))
  }
}
