import HTTP
import Identity

/// `POST S/policy/edit`: shows the form with the values sent: those of the review page, or of the
/// form itself for the evidence of another period.
struct EditPolicyChange: Sendable {
  let pages: PolicyPages

  func perform(_ context: PoolContext) async throws -> Response {
    let version = try pages.version(context)
    let policy = try await pages.current(context)
    let answers =
      switch try await pages.values(context) {
      case .form(let answers): answers
      case .project(let project): PolicyAnswers(project.edit)
      case .version(let version): PolicyAnswers(version.edit)
      case .undo(let previous): PolicyAnswers(previous)
      }
    return try await pages.page(context, policy, answers, seen: version)
  }
}
