import HTTP
import Identity
import Localization
import Templating

/// `/administrators/sign-in-provider/removal`: removes the provider after confirmation.
struct SignInProviderRemovalPage: Sendable {
  let identity: Identity
  let actions: ActionForms

  private static let action = ConsoleAction.removeSignInProvider

  func ask(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    try await page(signedIn)
  }

  func remove(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    do {
      let outcome = try await identity.consoleProviders.remove(actions.request(signedIn))
      return actions.leave(
        Message("sign-in-provider.removed"), signedIn, after: outcome,
        to: ConsolePaths.administrators())
    } catch {
      let errors = try await actions.faults(error, Self.action, signedIn) {
        error throws(Refusal) in
        switch error {
        case .passwordSignInOff:
          FieldError(
            field: "note", text: Message("sign-in-provider.turn-on-passwords-first"))
        case .notFound: FieldError(field: "note", text: Message("sign-in-provider.removed"))
        case .noOwnSignIn:
          FieldError(
            field: "note",
            text: Message(
              "sign-in-provider.removal-needs-own-sign-in",
              ["holder": .message(Permission.manageAdministrators.holder)]))
        case .invalid, .changedMeanwhile, .unavailable:
          throw Refusal.unavailable(error)
        }
      }
      return try await page(signedIn, errors: errors)
    }
  }

  private func page(
    _ signedIn: SignedIn, errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let stored = try await refusing { try await identity.consoleProviders.find() }
    guard let stored else { return .redirect(to: ConsolePaths.signInProvider()) }
    let name = Message.Value.name(Formatted.short(stored.name))
    var frame = actions.frames.frame(
      Message("sign-in-provider.removal-title", ["name": name]), for: signedIn)
    frame.crumbs = [
      Link(text: Message("administrators.administrators"), href: ConsolePaths.administrators()),
      Link(text: Message("sign-in-provider.title"), href: ConsolePaths.signInProvider()),
    ]
    var question = ActionQuestion(
      performs: Self.action,
      heading: Markup(html: Message("sign-in-provider.removal-question", ["name": name])),
      consequences: [
        Message("sign-in-provider.removal-revokes"), Message("sign-in-provider.removal-ends"),
        Message("sign-in-provider.removal-locks-out"),
      ], button: Message("sign-in-provider.remove"), keep: Message("common.cancel"),
      action: ConsolePaths.signInProviderRemoval(), back: ConsolePaths.signInProvider())
    question.factsHeading = Message("sign-in-provider.this-provider")
    question.facts = [
      Fact(Message("common.name"), HTML.isolated(stored.name)),
      Fact(Message("sign-in-provider.issuer"), HTML.isolated(stored.issuer)),
    ]
    return try await actions.ask(question, signedIn, frame, errors: errors)
  }
}
