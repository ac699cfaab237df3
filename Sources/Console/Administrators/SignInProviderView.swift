import HTTP
import Identity
import Localization
import Templating

struct SignInProviderView: ViewModel {
  let frame: FrameView
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
  /// What's stored, or what an empty form shows.
  private var before: ConsoleProvider { stored ?? ConsoleProvider() }

  private static let look: StaticString = #" class="mono" autocomplete="off" spellcheck="false""#
  private static let lines: StaticString = #" class="mono" rows="4" spellcheck="false""#

  private var sections: [SettingsSection] {
    let sections = [
      SettingsSection(
        id: "connection", heading: Message("Connection"), fields: registration + connection),
      SettingsSection(
        id: "group-roles", heading: Message("Group roles"),
        lead: Message(
          """
          People whose groups have a role here become administrators when they first sign in. At \
          each sign-in, roles from groups are granted and revoked. Manually granted roles aren’t \
          changed.
          """), fields: groups),
    ]
    return stored == nil ? sections : sections + [passwordSignIn]
  }

  private var registration: [Field] {
    var field = Field.fact(
      "redirect", Message("Redirect URI"),
      hint: Message(
        """
        Register a client with this address at the provider. It must use the authorization code \
        flow with PKCE.
        """), value: origin + ConsolePaths.providerCallback())
    field.isWide = true
    return [field]
  }

  private var connection: [Field] {
    [
      .line(
        "name", Message("Name"), hint: Message("Shown on the sign-in button after “Sign in with”."),
        Field.Look.title, value: provider.name
      ).over(before.name),
      .line(
        "issuer", Message("Issuer"),
        hint: Message(
          """
          Exactly as in the provider’s discovery document, which is fetched when you save.
          """), Self.look, value: provider.issuer
      ).over(before.issuer).wide(),
      .line("client-id", Message("Client ID"), Self.look, value: provider.clientID)
        .over(before.clientID).wide(),
      .line(
        "client-secret", Message("Client secret <span class=\"soft\">(optional)</span>"),
        hint: before.hasSecret
          ? Message(
            """
            A secret is stored. Leave this empty to keep it. A new issuer or client ID needs a new \
            secret.
            """)
          : Message("Leave this empty for a client without a secret."),
        #" type="password" class="mono" autocomplete="off""#
      ).overSecret().wide(),
      .line(
        "scopes", Message("Scopes"), hint: Message("Separated by spaces. Must include openid."),
        Self.look, value: provider.scopes
      ).over(before.scopes).wide(),
      .area(
        "mfa-values", Message("Values that indicate MFA"),
        hint: Message(
          """
          One per line, usually only mfa. If the ID token’s acr or amr claim contains one of them, \
          the sign-in includes a second factor. Otherwise, administrators must also use their \
          second factor in Countersign. With mfa alone, amr may also have two methods of different \
          kinds, such as pwd and otp. A method that you add, such as otp or hwk, is enough by \
          itself: the provider then signs in with a single factor.
          """), Self.lines, value: provider.mfaValues.joined(separator: "\n")
      ).over(before.mfaValues.joined(separator: "\n")),
    ]
  }

  private var groups: [Field] {
    let names = Role.allCases.map(\.rawValue).joined(separator: ", ")
    return [
      .line(
        "groups-claim", Message("Groups claim"),
        hint: Message(
          "The claim that lists a person’s groups, in the ID token or the userinfo response."),
        #" class="mono medium" autocomplete="off" spellcheck="false""#,
        value: provider.groupsClaim
      ).over(before.groupsClaim),
      .area(
        "roles", Message("Roles, one line per group"),
        hint: Message(
          """
          A group, a colon, a role, and its scope, such as “help desk: support *” or “help desk: \
          support shop/eu”. Roles: <code>{roleNames}</code>. Scopes: * for the whole instance, a \
          project ID, or PROJECT/TENANT. Saving changes the roles of linked administrators \
          immediately.
          """, ["roleNames": .text(names)]), Self.lines, value: answers.roles
      ).over(SignInProviderAnswers(before).roles),
    ]
  }

  private var passwordSignIn: SettingsSection {
    var options = [Field.Option(value: "", label: Message("All administrators"))]
    options += accounts.map {
      let name = Isolation.isolated(Formatted.short($0.displayName))
      return Field.Option(value: $0.id.text, label: .verbatim("\(name) (\($0.email))"))
    }
    return SettingsSection(
      id: "password-sign-in", heading: Message("Password sign-in"),
      lead: Message(
        """
        After you sign in with the provider, passwords and passkeys can be turned off for everyone \
        except a break-glass account. Open sessions stay open. {alerts} If the provider fails and \
        the break-glass account can’t sign in, the operator can run “countersign admin \
        passwords-on”.
        """, ["alerts": .message(alerts)]),
      fields: [
        .menu(
          "break-glass-account", Message("Who can sign in with a password or passkey"),
          hint: Message(
            """
            A break-glass account must be able to manage administrators of the instance through a \
            manually granted role without an end date, and must have a password or passkey.
            """), options, value: provider.breakGlassAccount?.text ?? ""
        ).over(before.breakGlassAccount?.text ?? "")
      ])
  }

  private var alerts: Message {
    carriesMail
      ? Message(
        """
        Each time the break-glass account signs in without the provider, everyone else who manages \
        administrators sees an alert in the console. At most {most} of them get an email.
        """, ["most": .number(BreakGlassAlert.mostEmailed)])
      : Message(
        """
        Each time the break-glass account signs in without the provider, everyone else who manages \
        administrators sees an alert in the console.
        """)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
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
    .text("removal") { $0.stored == nil ? nil : RemoveSignInProvider.path() },
    .text("cancel") { _ in ConsolePaths.instanceSettings() },
    .list("sections") { view in view.sections.map { $0.shown(view.frame) } },
    .optional("lostSecret") { view in
      LostSecret(
        view.answers.secret,
        label: view.stored?.hasSecret == true
          ? Message("Keep the stored client secret")
          : Message("Leave the client secret empty"))
    },
    .object("authorization") { $0.fields },
  ]
}
