import HTTP
import Identity
import Templating

/// `S/users/{uid}/deletion`: asks, and deletes a user.
struct DeletionPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<DeletionView>

  func ask(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    try await page(context, try await account(context, uid), typed: "", errors: [])
  }

  func delete(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let account = try await account(context, uid)
    let typed = context.signedIn.form.trimmed("confirmation")
    guard account.isConfirmed(by: typed) else {
      let fault = FieldError(
        field: "confirmation",
        text: typed.isEmpty
          ? "Type the e-mail address or the uid of the user."
          : "That is not this user’s e-mail address or uid. Type one of them.")
      return try await page(context, account, typed: typed, errors: [fault])
    }
    do {
      try await identity.accounts.delete(context.scope, account.id, by: context.signedIn.author)
    } catch {
      guard case .notFound = error else { throw .unavailable(error) }
      throw .notFound
    }
    frames.leave("Deleted the user \(Words.isolated(account.label)).", for: context.signedIn)
    return .redirect(to: ConsolePaths.users(context.scope))
  }

  private func account(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Account {
    let found = try await refusing { try await identity.accounts.find(context.scope, ID(uid)) }
    guard let found else { throw .notFound }
    return found
  }

  private func page(
    _ context: ScopeContext, _ account: Account, typed: String, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let sessions = try await refusing { try await identity.sessions.count(account) }
    let scope = context.scope
    let user = Words.isolated(account.label)
    var frame = try await frames.frame("Delete \(user) · Users", in: context, tab: .users)
    frame.errors = errors
    frame.crumbs = Link.crumbs(to: account, in: scope)
    let model = DeletionView(
      frame: FrameView(frame), context: context, account: account, sessions: sessions,
      typed: typed)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

extension Account {
  /// Whether somebody typed which account it is; the case of an address does not matter.
  fileprivate func isConfirmed(by typed: String) -> Bool {
    !typed.isEmpty && (typed == id.text || typed.lowercased() == email?.lowercased())
  }
}

struct DeletionView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let account: Account
  let sessions: Int
  let typed: String

  private var consequences: [String] {
    let factors = account.factors.map { "“\(Words.isolated($0.label))”" }.joined(separator: ", ")
    return [
      "The account goes, with its password, name and claims.",
      account.factors.isEmpty
        ? "It has no second factor."
        : "\(Words.count(account.factors.count, "second factor goes", "second factors go")): \(factors).",
      SessionWords.ending(sessions, none: "No session is open."),
      "It cannot be undone. What was done to the account stays in the audit log.",
    ]
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("action") { ConsolePaths.deletion($0.context.scope, $0.account.id.text) },
    .text("keep") { ConsolePaths.user($0.context.scope, $0.account.id.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("userName") { Words.short($0.account.label) },
    .texts("consequences") { $0.consequences },
    .text("email") { $0.account.email },
    .text("uid") { $0.account.id.text },
    .text("typed") { $0.typed },
    .text("error") { $0.frame.error(at: "confirmation") },
  ]
}
