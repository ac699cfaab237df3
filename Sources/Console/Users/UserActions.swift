import HTTP
import Identity

/// What one button does to a user: verify the address, disable and enable, end the sessions.
///
/// Each can be taken back, or only makes the user sign in again, so none has a page that asks.
struct UserActions: Sendable {
  let identity: Identity
  let frames: Frames

  func verify(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    var change = AccountChange()
    change.emailVerified = true
    let update = try await update(context, uid, change)
    guard update.account.email != nil else {
      return leave("This user has no e-mail address that could be verified.", context, uid)
    }
    return leave("The e-mail address is marked as verified.", context, uid)
  }

  func setState(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    guard let state = UserState(rawValue: context.signedIn.form["state"] ?? "") else {
      // Who does not exist is not found, whatever the form says.
      let found = try await refusing { try await identity.accounts.find(context.scope, ID(uid)) }
      throw found == nil ? .notFound : .unreadableForm
    }
    var change = AccountChange()
    change.disabled = state == .disabled
    let update = try await update(context, uid, change)
    guard state == .disabled else {
      return leave("The user is enabled and may sign in again.", context, uid)
    }
    return leave(
      "The user is disabled and cannot sign in. \(SessionWords.ended(update.sessionsEnded))",
      context, uid)
  }

  func endSessions(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let ended: Int
    do {
      ended = try await identity.sessions.endAll(
        context.scope, ID(uid), by: context.signedIn.author)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    return leave(SessionWords.ended(ended), context, uid)
  }

  private func update(
    _ context: ScopeContext, _ uid: String, _ change: AccountChange
  ) async throws(Refusal) -> AccountUpdate {
    do {
      return try await identity.accounts.update(
        context.scope, ID(uid), change, renewing: nil, by: context.signedIn.author)
    } catch {
      guard case .notFound = error else { throw .unavailable(error) }
      throw .notFound
    }
  }

  private func leave(_ text: String, _ context: ScopeContext, _ uid: String) -> Response {
    frames.leave(text, for: context.signedIn)
    return .redirect(to: ConsolePaths.user(context.scope, uid))
  }
}

/// Whether a user may sign in, as forms say it.
enum UserState: String {
  case enabled, disabled
}
