import HTTP
import Identity
import Localization
import Templating

/// `S/erasure`: erases what's still stored about a deleted user, found by UID.
struct EraseDeletedUserPage: Sendable {
  let userData: UserData
  let actions: ActionForms
  let view: Template<EraseDeletedUserView>

  func ask(_ context: ScopeContext) async throws -> Response {
    try await page(context, typed: "", errors: [])
  }

  func erase(_ context: ScopeContext) async throws -> Response {
    let (scope, signedIn) = (context.scope, context.signedIn)
    let typed = signedIn.form.trimmed("uid")
    guard !typed.isEmpty else {
      let required = Self.error(Message("Enter the UID."))
      let errors = [required] + (try await actions.unmet(.eraseDeletedUser, signedIn))
      return try await page(context, typed: typed, errors: errors)
    }
    do {
      let outcome = try await userData.eraseDeleted(
        scope, ID(typed), actions.request(signedIn))
      return actions.leave(
        outcome.value.message, signedIn, after: outcome, to: ConsolePaths.users(scope))
    } catch let error as ActionDenial {
      let own: Message? =
        switch error {
        case .accountNotFound: Message("Nothing is stored about a user with this UID.")
        case .nothingToDo:
          Message("This user isn’t deleted. Erase the data on the user’s page.")
        default: nil
        }
      let errors =
        if let own {
          [Self.error(own)] + (try await actions.unmet(.eraseDeletedUser, signedIn))
        } else { try ActionForms.faults(error, .eraseDeletedUser, signedIn) }
      return try await page(context, typed: typed, errors: errors)
    }
  }

  private static func error(_ text: Message) -> FieldError { FieldError(field: "uid", text: text) }

  private func page(
    _ context: ScopeContext, typed: String, errors: [FieldError]
  ) async throws -> Response {
    let (scope, signedIn) = (context.scope, context.signedIn)
    var frame = try await actions.frames.frame(Message("Erase a deleted user"), in: context)
    frame.errors = errors
    frame.crumbs = [Link(text: Message("Users"), href: ConsolePaths.users(scope))]
    let framed = FrameView(frame)
    let model = EraseDeletedUserView(
      frame: framed, scope: scope, csrf: signedIn.session.csrfToken, typed: typed,
      fields: try await actions.fields(.eraseDeletedUser, signedIn, framed))
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct EraseDeletedUserView: ViewModel {
  let frame: FrameView
  let scope: Scope
  let csrf: String
  let typed: String
  let fields: ActionFields

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("action") { ConsolePaths.deletedUserErasure($0.scope) },
    .text("back") { ConsolePaths.users($0.scope) },
    .text(\.typed),
    .text("error") { $0.frame.error(at: "uid") },
    .object("authorization") { $0.fields },
  ]
}
