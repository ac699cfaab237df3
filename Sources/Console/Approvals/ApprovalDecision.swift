import HTTP
import Identity

/// What an administrator does with an approval request.
protocol ApprovalDecision: Sendable {
  /// The action in the table of what actions require, for a kind of request.
  static func action(isAboutPolicy: Bool) -> ConsoleAction

  /// The ID of the form's field for a code.
  var codeField: String { get }

  /// Performs the action, and returns what confirms it.
  func perform(
    _ approval: Approval, _ signedIn: SignedIn, _ request: ActionRequest
  ) async throws(ApprovalError) -> ApprovalResult
}

extension ApprovalDecision {
  var codeField: String { "code" }
}

/// The result of an action on an approval request.
struct ApprovalResult: Sendable {
  let flash: Flash
  /// The next page; nil for the request's own.
  var address: String?
  var renewed: NewConsoleSession?
}
