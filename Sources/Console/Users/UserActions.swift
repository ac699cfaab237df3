import HTTP
import Identity

/// What one button does to a user: verify the address, and enable.
///
/// Each can be taken back, so none has a page that asks.
struct UserActions: Sendable {
  let identity: Identity
  let frames: Frames

  func verify(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    var change = AccountChange()
    change.emailVerified = true
    return try await apply(change, context, uid) { account in
      account.email == nil
        ? "This user has no e-mail address that could be verified."
        : "The e-mail address is marked as verified."
    }
  }

  func enable(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    var change = AccountChange()
    change.disabled = false
    return try await apply(change, context, uid) { _ in
      "The user is enabled and may sign in again."
    }
  }

  private func apply(
    _ change: AccountChange, _ context: ScopeContext, _ uid: String,
    _ words: (Account) -> String
  ) async throws(Refusal) -> Response {
    do {
      try await identity.desk.check(
        context.signedIn.session, on: ID(uid), in: context.scope, needing: .changeUsers,
        passingLock: true)
    } catch {
      return try leave(error, context, uid)
    }
    let account: Account
    do {
      account = try await identity.accounts.update(
        context.scope, ID(uid), change, by: context.signedIn.author)
    } catch {
      guard case .notFound = error else { throw .unavailable(error) }
      throw .notFound
    }
    return leave(Flash(text: words(account)), context, uid)
  }

  private func leave(
    _ error: DeskError, _ context: ScopeContext, _ uid: String
  ) throws(Refusal) -> Response {
    let fault = try DeskFaults.fault(error, context.signedIn.times, .changeUsers)
    return leave(Flash(text: fault.text, isAlert: true), context, uid)
  }

  private func leave(_ flash: Flash, _ context: ScopeContext, _ uid: String) -> Response {
    frames.leave(flash, for: context.signedIn.session)
    return .redirect(to: ConsolePaths.user(context.scope, uid))
  }
}
