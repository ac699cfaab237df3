import HTTP
import Identity
import Localization

/// `POST S/policy/scheduled/{number}/cancellation`: cancels a scheduled change.
struct CancelScheduledChange: Sendable {
  let policies: Policies
  let actions: ActionForms

  func perform(_ context: ScopeContext, _ id: String) async throws(Refusal) -> Response {
    guard let number = Int64(id) else { throw .notFound }
    let (signedIn, path) = (context.signedIn, ConsolePaths.scheduledChanges(context.scope))
    do {
      let outcome = try await policies.cancelScheduled(
        number, in: context.scope, signedIn.plainRequest)
      return actions.leave(
        Message("scheduled-changes.canceled"), signedIn, after: outcome, to: path)
    } catch {
      let reason = try error.failure(of: .cancelScheduledChange)
      guard case .changeNotPending = reason else { throw Refusal(reason) }
      return actions.ending.response(
        Flash(text: Message("scheduled-changes.too-late"), isAlert: true), signedIn, renewed: nil,
        to: path)
    }
  }
}
