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
        Message("The sign-in provider was removed."), signedIn, after: outcome,
        to: ConsolePaths.administrators())
    } catch {
      let errors = try await actions.faults(error, Self.action, signedIn) {
        error throws(Refusal) in
        switch error {
        case .passwordSignInOff:
          FieldError(
            field: "note", text: Message("Turn on password sign-in first."))
        case .notFound:
          FieldError(field: "note", text: Message("The sign-in provider was removed."))
        case .noOwnSignIn:
          FieldError(
            field: "note",
            text: Message(
              """
              Without the provider, no one who manages administrators could sign in. First, make \
              sure someone who manages administrators through a manually granted role without an \
              end date has a password or passkey.
              """))
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
    var frame = await actions.frames.frame(Message("Remove {name}", ["name": name]), for: signedIn)
    frame.crumbs = [
      Link(text: Message("Administrators"), href: ConsolePaths.administrators()),
      Link(text: Message("Sign-in provider"), href: ConsolePaths.signInProvider()),
    ]
    var question = ActionQuestion(
      performs: Self.action,
      heading: Markup(html: Message("Remove {name}?", ["name": name])),
      consequences: [
        Message("Roles that come from groups are revoked, and all links are removed."),
        Message("Sessions that began with the provider end."),
        Message("Administrators without a password or passkey can no longer sign in."),
      ], button: Message("Remove provider"), keep: Message("Cancel"),
      action: ConsolePaths.signInProviderRemoval(), back: ConsolePaths.signInProvider())
    question.factsHeading = Message("This provider")
    question.facts = [
      Fact(Message("Name"), HTML.isolated(stored.name)),
      Fact(Message("Issuer"), HTML.isolated(stored.issuer)),
    ]
    return try await actions.ask(question, signedIn, frame, errors: errors)
  }
}
