import HTTP
import Identity

/// What owners do about agents: let one go on who was stopped, and say for how long own codes count.
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

  /// `/administrators/step-up`: changes the time.
  func setStepUp(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    do {
      let minutes = Int(signedIn.form.trimmed("minutes")) ?? 0
      let isNew = try await desk.setStepUp(minutes: minutes, by: signedIn.author)
      frames.leave(
        isNew
          ? "From now on a code counts for \(Words.count(minutes, "minute", "minutes"))."
          : "It was so before.", for: signedIn)
    } catch {
      guard case .outOfRange(let field) = error else { throw .unavailable(error) }
      frames.leave(Flash(text: field.fault.text, isAlert: true), for: signedIn.session)
    }
    return .redirect(to: ConsolePaths.administrators())
  }
}
