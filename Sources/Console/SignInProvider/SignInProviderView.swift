import HTTP
import Identity
import Localization
import Templating

struct SignInProviderView: ViewModel {
  let frame: FrameView
  let csrf: String
  let answers: SignInProviderAnswers
  let stored: ConsoleProvider?
  /// The provider that someone else saved after the form was opened, without values if they removed
  /// it; nil if no one did.
  let current: ConsoleProvider?
  /// The administrators who could be the break-glass account.
  let accounts: [Administrator]
  let origin: String
  let carriesMail: Bool
  let fields: ActionFields

  private var provider: ConsoleProvider { answers.provider }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .text("settingsVersion") { $0.answers.version.text },
    .optional("conflict") { view in
      view.current.map { current in
        SettingsConflict(
          Message("This provider changed while you were editing."),
          current: current.facts(view.accounts),
          entered: view.provider.facts(view.accounts), discard: ConsolePaths.signInProvider())
      }
    },
    .text("action") { _ in ConsolePaths.signInProvider() },
    .text("removal") { $0.stored == nil ? nil : ConsolePaths.signInProviderRemoval() },
    .text("back") { _ in ConsolePaths.administrators() },
    .text("redirect") { $0.origin + ConsolePaths.providerCallback() },
    .text("name") { $0.provider.name },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("issuer") { $0.provider.issuer },
    .text("issuerError") { $0.frame.error(at: "issuer") },
    .text("clientID") { $0.provider.clientID },
    .text("clientIDError") { $0.frame.error(at: "client-id") },
    .flag("hasSecret") { $0.stored?.hasSecret ?? false },
    .text("clientSecretError") { $0.frame.error(at: "client-secret") },
    .optional("lostSecret") { view in
      LostSecret(
        view.answers.secret,
        label: view.stored?.hasSecret == true
          ? Message("Keep the stored client secret")
          : Message("Leave the client secret empty"))
    },
    .text("scopes") { $0.provider.scopes },
    .text("scopesError") { $0.frame.error(at: "scopes") },
    .text("groupsClaim") { $0.provider.groupsClaim },
    .text("groupsClaimError") { $0.frame.error(at: "groups-claim") },
    .text("mfaValues") { $0.provider.mfaValues.joined(separator: "\n") },
    .text("mfaValuesError") { $0.frame.error(at: "mfa-values") },
    .text("roles") { $0.answers.roles },
    .text("roleNames") { _ in Role.allCases.map(\.rawValue).joined(separator: ", ") },
    .text("rolesError") { $0.frame.error(at: "roles") },
    .flag("hasPasswordSignIn") { $0.stored != nil },
    .text("alerts") {
      $0.carriesMail
        ? Message(
          """
          Each time the break-glass account signs in without the provider, everyone else who \
          manages administrators sees an alert in the console. At most {most} of them get an \
          email.
          """,
          ["most": .number(BreakGlassAlert.mostEmailed)])
        : Message(
          """
          Each time the break-glass account signs in without the provider, everyone else who \
          manages administrators sees an alert in the console.
          """)
    },
    .list("accounts") { view in
      view.accounts.map {
        Choice(
          value: $0.id.text,
          text: Message.verbatim(
            "\(Isolation.isolated(Formatted.short($0.displayName))) (\($0.email))"),
          isChosen: $0.id == view.provider.breakGlassAccount)
      }
    },
    .text("accountError") { $0.frame.error(at: "break-glass-account") },
    .object("authorization") { $0.fields },
  ]
}
