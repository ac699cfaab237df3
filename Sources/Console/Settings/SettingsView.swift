import HTTP
import Identity
import Localization
import Templating

struct SettingsView: ViewModel {
  let frame: FrameView
  let part: SettingsPage.Part
  let context: PoolContext
  let values: PoolSettings
  let answers: SettingsAnswers
  let history: [AuditRow]?
  /// The authorization fields for a change that weakens security; nil unless one is being saved.
  let fields: ActionFields?
  /// The users with a second factor whom the changes would leave without a way to sign in; nil if
  /// there are none.
  let outside: LeftOutside?
  let carriesText: Bool

  private var pool: Pool { context.pool }
  private var mayChange: Bool { context.may(.changePool) }
  private var isProject: Bool { pool.tenant == nil }

  private var sections: [SettingsSection] {
    switch part {
    case .signInMethods: signInSections
    case .general: generalSections
    }
  }

  private var signInSections: [SettingsSection] {
    [
      SettingsSection(id: "allowed", heading: Message("Allowed methods"), fields: methods),
      SettingsSection(
        id: "passwords", heading: Message("Password policy"), fields: answers.passwords.fields),
      SettingsSection(
        id: "user-actions", heading: Message("User actions"),
        fields: answers.passwords.userActions(isProject: isProject)),
      SettingsSection(
        id: "enumeration", heading: Message("Email enumeration protection"),
        fields: [
          .setting(
            "privacy", Message("Hide which email addresses have an account"),
            hint: isProject ? Self.privacy : Self.tenantPrivacy, answers.privacy)
        ]),
    ]
  }

  private static let privacy = Message(
    """
    An incorrect password and an unknown address get the same response. Leave this on unless an \
    older application needs to distinguish them.
    """)
  private static let tenantPrivacy = Message(
    "{hint} The tenant uses the project’s setting until you change it here.",
    ["hint": .message(privacy)])

  private var methods: [Field] {
    let methods: [Field] = [
      .setting(
        "password", Message("Email/Password"), hint: Message("Supports a second factor."),
        answers.password),
      .setting(
        "email-link", Message("Email link"),
        hint: Message(
          "Sends a sign-in link by email instead of using a password. Supports a second factor."),
        answers.emailLink),
      .setting(
        "anonymous", Message("Anonymous"),
        hint: Message("Guest accounts without credentials. They can’t enroll a second factor."),
        answers.anonymous),
    ]
    return isProject ? methods + [phone] : methods
  }

  private var phone: Field {
    let hint = Message(
      """
      Sends a code to a phone instead of using a password. Doesn’t support a second factor, so \
      users who have one can’t sign in this way. Not available for tenants.
      """)
    return .setting(
      "phone", Message("Phone"),
      hint: carriesText
        ? hint
        : Message(
          "{hint} {warning}",
          ["hint": .message(hint), "warning": .message(MessagesText.noGateway)]), answers.phone)
  }

  private var generalSections: [SettingsSection] {
    let sections = [
      SettingsSection(
        id: "naming", heading: isProject ? Message("Project") : Message("Tenant"),
        fields: [
          .line(
            "name", Message("Name"),
            hint: isProject
              ? Message("Shown in the console. 1 to 100 characters, in any language.")
              : Message("4 to 20 letters, digits, and hyphens, starting with a letter."),
            Field.Look.title, value: answers.name.now
          ).over(answers.name.was, isSent: true),
          .fact(
            "pool-id", isProject ? Message("Project ID") : Message("Tenant ID"),
            hint: Message("Doesn’t change"), value: pool.objectID),
        ]),
      SettingsSection(
        id: "changes", heading: Message("Changes of sign-in"),
        fields: [
          .setting(
            "factor-for-changes", Message("Require a second factor to change sign-in"),
            hint: Message(
              """
              To change the password, email address, or phone number, unlink a provider, unenroll \
              a factor, or delete the account, the session of a user with a second factor must \
              have started with it. Otherwise: <code>CREDENTIAL_TOO_OLD_LOGIN_AGAIN</code>
              """), answers.factorForChanges)
        ]),
    ]
    return isProject ? sections + [links, imports] : sections
  }

  private var links: SettingsSection {
    let hint = Message("One hostname per line. Links in emails can lead only to these domains.")
    let mayChange = context.may(.changeLinks)
    let domains = Field.area(
      "domains", Message("Authorized domains"),
      hint: mayChange
        ? hint
        : Message(
          "{hint} Changing them requires the {linkRoles} role.",
          ["hint": .message(hint), "linkRoles": Permission.changeLinks.roleNames]),
      mayChange
        ? #" class="mono medium" rows="4" autocapitalize="off" spellcheck="false""#
        : #" class="mono medium" rows="4" readonly"#, value: answers.typedDomains)
    return SettingsSection(
      id: "links", heading: Message("Links in emails"),
      fields: [domains.over(answers.domains.was.joined(separator: "\n"), isSent: true)])
  }

  private var imports: SettingsSection {
    SettingsSection(
      id: "import", heading: Message("Import"),
      fields: [
        .setting(
          "import-totp", Message("TOTP secrets in user imports"),
          hint: Message(
            """
            Users of another server keep their authenticator apps. Also in tenants. While this is \
            on, anyone who can import users can set their second factors, so turn it off after the \
            migration.
            """), answers.importsTOTP)
      ])
  }

  /// The link to delete the pool; nil without the permission.
  private var deletion: String? {
    let administrator = context.signedIn.administrator
    guard pool.tenant != nil else {
      return context.may(.deleteProject) ? DeleteProject.path(pool.project.text) : nil
    }
    return administrator.may(.manageTenants, project: pool.project, tenant: nil)
      ? DeleteTenant.path(pool) : nil
  }

  private var facts: [Fact] {
    switch part {
    case .signInMethods: signInFacts
    case .general: generalFacts
    }
  }

  private var signInFacts: [Fact] {
    let permissions = values.userPermissions
    var facts = [
      Fact(Message("Sign-in methods"), values.signIn.words),
      Fact(Message("Password policy"), (values.passwords ?? PasswordPolicy()).formatted),
      Fact(Message("Enable create (sign-up)"), onOrOff(permissions.signUp)),
      Fact(Message("Enable delete"), onOrOff(permissions.deletion)),
    ]
    if let project = values.project {
      facts.append(
        Fact(
          Message("Anonymous users"),
          project.expiresAnonymous
            ? Message("deleted after 30 days") : Message("kept")))
    }
    facts.append(
      Fact(Message("Email enumeration protection"), onOrOff(values.hidesUsers)))
    return facts
  }

  private var generalFacts: [Fact] {
    var facts = [
      Fact(Message("Name"), HTML.isolated(values.displayName)),
      Fact(
        Message("Changes of sign-in"),
        values.changesNeedFactor
          ? Message("require a second factor")
          : Message("unrestricted")),
    ]
    if let project = values.project {
      let domains = project.authorizedDomains.map(Message.verbatim)
      facts.append(
        Fact(
          Message("Authorized domains"),
          domains.isEmpty ? Message("none") : Message.value(.sequence(domains))))
      facts.append(Fact(Message("TOTP secrets in user imports"), onOrOff(project.importsTOTP)))
    }
    return facts
  }

  /// The link to the audit log's entries about the pool's settings; nil without the permission.
  private var allHistory: String? {
    guard history != nil else { return nil }
    let query: Form = ["kind": isProject ? "project" : "tenant", "object": pool.objectID]
    return query.query(of: ConsolePaths.audit(pool))
  }

  private func onOrOff(_ isOn: Bool) -> Message {
    isOn ? Message("on") : Message("off")
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .optional("authorization") { $0.fields },
    .text("outside") { $0.outside?.warning },
    .text("poolName") { $0.pool.name },
    .text("action") { $0.part.path($0.pool) },
    .flag("mayChange") { $0.mayChange },
    .text("roles") { _ in Message.value(Permission.changePool.roleNames) },
    .flag("isProject") { $0.isProject },
    .flag("isGeneral") { $0.part == .general },
    .text("heading") { $0.part.title },
    .text("cancel") { ConsolePaths.overview($0.pool) },
    .list("sections") { view in view.sections.map { $0.shown(view.frame) } },
    .list("facts") { $0.facts },
    .flag("isOff") { $0.pool.isDisabled },
    .markup("signInState") {
      $0.pool.isDisabled ? Chip.bad(Message("off")) : Chip.on(Message("on"))
    },
    .text("signInSwitch") { $0.mayChange ? ConsolePaths.signInSwitch($0.pool) : nil },
    .text("deletion") { $0.deletion },
    .flag("showsHistory") { $0.history != nil },
    .text("allHistory") { $0.allHistory },
    .list("history") { $0.frame.history($0.history) },
  ]
}

extension ServiceTokenRole {
  var name: Message {
    switch self {
    case .owner: Message("Owner")
    case .policy: Message("Policy")
    case .support: Message("Support")
    case .auditor: Message("Auditor")
    case .application: Message("Application")
    case .connectionRead: Message("Connection: read")
    case .connectionSupport: Message("Connection: support")
    case .connectionPolicy: Message("Connection: policy")
    }
  }

  var hint: Message {
    switch self {
    case .owner: Message("Full access: policy, settings, tenants, and users.")
    case .policy:
      Message(
        "Reads and changes the configuration, and creates and deletes tenants. No access to users.")
    case .support: Message("Looks up users.")
    case .auditor: Message("Reads the configuration and looks up users.")
    case .application:
      Message("For an application’s backend: finds, creates, changes, and deletes users.")
    case .connectionRead:
      Message(
        "For another Countersign that shows this project: reads the configuration and all users.")
    case .connectionSupport:
      Message("For another Countersign: reads the configuration, and reads and changes users.")
    case .connectionPolicy:
      Message("For another Countersign: reads and changes the configuration, tenants, and users.")
    }
  }
}
