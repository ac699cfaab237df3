import HTTP
import Identity
import Localization
import OTP
import Text

/// `S/policy`: shows the MFA policy of a pool, and the form to change it.
///
/// Links can propose a change and open its review page: `?change=on` turns on TOTP,
/// `?change=intervals` with `&intervals=3` changes the window, `?change=project` copies the
/// project's policy to a tenant, `?change=version&row=7` restores a version, and
/// `?change=undo&version=3` the one before the current version 3.
/// `?pattern=mandatory` opens the form with that pattern selected.
struct PolicyPage: Sendable {
  let pages: PolicyPages

  func show(_ context: PoolContext) async throws -> Response {
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
    case "version":
      if let version = try await pages.formerVersion(context, asked.trimmed("row")) {
        return try await propose(.version(version), context)
      }
    case "undo":
      let version = UInt32(asked.trimmed("version")).map { Int($0) } ?? .max
      guard version >= policy.version else {
        return try await pages.page(context, policy, answers, seen: version)
      }
      if version == policy.version,
        let previous = try await pages.edit(beforeVersion: version, context)
      {
        return try await propose(.undo(previous), context)
      }
    default:
      if let pattern = asked.text("pattern").flatMap(EnrollmentPattern.init(rawValue:)) {
        answers.pattern = pattern.rawValue
      }
    }
    return try await pages.page(context, policy, answers)
  }

  /// Returns the address that opens the review page for a window; nil for administrators who can't
  /// change the policy.
  static func proposal(_ window: Window, in context: PoolContext) -> String? {
    guard context.may(.changePolicy) else { return nil }
    let form: Form = ["change": "intervals", "intervals": String(window.adjacentIntervals)]
    return form.query(of: ConsolePaths.policy(context.pool))
  }

  static func undo(_ policy: Policy) -> Link {
    let form: Form = ["change": "undo", "version": String(policy.version)]
    return Link(
      text: Message("Undo"), href: form.query(of: ConsolePaths.policy(policy.pool)))
  }

  /// Shows the review page of a change that a link proposes, or the form if it changes nothing.
  private func propose(
    _ proposal: PolicyProposal, _ context: PoolContext
  ) async throws -> Response {
    let preview = try await pages.preview(proposal, context)
    guard !preview.changes.isEmpty else {
      let policy = preview.policy
      return try await pages.page(context, policy, PolicyAnswers(policy.edit), isUnchanged: true)
    }
    return try await pages.review(
      context, ReviewedPolicyChange(proposal: proposal, preview: preview))
  }
}
