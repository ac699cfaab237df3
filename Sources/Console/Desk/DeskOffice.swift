import HTTP
import Identity

/// What owners do about agents who were stopped: let them go on.
struct DeskOffice: Sendable {
  let desk: Desk
  let frames: Frames

  /// `S/desk/release/{administrator}`: lets an agent go on.
  func release(_ context: ScopeContext, _ agent: String) async throws(Refusal) -> Response {
    let wasHeld: Bool
    do {
      wasHeld = try await desk.release(ID(agent), in: context.scope, by: context.signedIn.author)
    } catch {
      guard case .notAllowed = error else { throw .unavailable(error) }
      frames.leave(
        Flash(text: "Nobody releases themselves. Ask another owner.", isAlert: true),
        for: context.signedIn.session)
      return .redirect(to: ConsolePaths.projects())
    }
    guard wasHeld else { throw .notFound }
    frames.leave("The agent is released and begins a new hour.", for: context.signedIn)
    return .redirect(to: ConsolePaths.projects())
  }
}
