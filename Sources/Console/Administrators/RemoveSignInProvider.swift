import HTTP
import Identity
import Localization

/// `/administrators/sign-in-provider/removal`: removes the provider.
struct RemoveSignInProvider: FormAction {
  static let action = ConsoleAction.removeSignInProvider
  static let name = Message("Remove sign-in provider")
  static let path = Path("administrators", "sign-in-provider", "removal")
  let providers: ConsoleProviders

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let stored = try await providers.find()
    guard let stored else { throw target.elsewhere(ConsolePaths.signInProvider()) }
    let name = Message.Value.name(Formatted.short(stored.name))
    return FormPage(
      title: Message("Remove {name}", ["name": name]),
      crumbs: [
        Link(text: Message("Instance settings"), href: ConsolePaths.instanceSettings()),
        Link(text: Message("Sign-in provider"), href: ConsolePaths.signInProvider()),
      ],
      heading: Message("Remove {name}?", ["name": name]),
      consequences: [
        Message("Roles that come from groups are revoked, and all links are removed."),
        Message("Sessions that began with the provider end."),
        Message("Administrators without a password or passkey can no longer sign in."),
      ], isQuestion: true, button: Message("Remove provider"), isDestructive: true,
      back: ConsolePaths.signInProvider(), factsHeading: Message("This provider"),
      facts: [
        Fact(Message("Name"), HTML.isolated(stored.name)),
        Fact(Message("Issuer"), HTML.isolated(stored.issuer)),
      ])
  }

  func perform(_ input: Void, _ target: FormTarget<SignedIn>) async throws -> FormEnd {
    let outcome = try await providers.remove(target.request)
    return FormEnd(
      Message("The sign-in provider was removed."), at: ConsolePaths.instanceSettings(),
      after: outcome)
  }

  func fault(_ error: ConsoleProviderError, _ target: FormTarget<SignedIn>) throws -> FieldError {
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
    case .invalid, .changedMeanwhile:
      throw error
    }
  }
}
