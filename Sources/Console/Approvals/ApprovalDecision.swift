import HTTP
import Identity

protocol ApprovalDecision: Sendable {
  static func action(isAboutPolicy: Bool) -> ConsoleAction

  var codeField: String { get }

  func perform(
    _ approval: Approval, _ signedIn: SignedIn, _ request: ActionRequest
  ) async throws -> ApprovalResult
}

extension ApprovalDecision {
  var codeField: String { "code" }
}

struct ApprovalResult: Sendable {
  let flash: Flash
  /// The next page; nil for the request's own.
  var address: String?
  var renewed: NewConsoleSession?
}
