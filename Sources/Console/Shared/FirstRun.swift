import HTTP
import Identity
import Localization
import Templating

/// The steps from an empty instance to the first enrolled user, each with its state.
struct FirstRun: ViewModel {
  let progress: Message
  let steps: [FirstRunStep]
  /// Whether only the first user is missing.
  let isReady: Bool

  /// The number of users up to which a pool without enrolled users counts as new.
  private static let mostUsers = 10

  /// The steps of a pool; nil once a user of its project has enrolled.
  init?(
    _ context: PoolContext, _ policy: Policy, _ identity: Identity
  ) async throws {
    guard context.offers(.hosting), policy.enrolledUsers == 0, policy.users < Self.mostUsers
    else { return nil }
    let (pool, now) = (context.pool, identity.clock.now())
    let project = try await identity.activity.enrollment(
      of: pool, isWhole: true, at: [], until: now)
    guard project.allSatisfy({ $0.enrolled == 0 && $0.users < Self.mostUsers }) else { return nil }
    let isConnected = try await identity.isConnected(pool)
    let isOn = policy.configuration.isTOTPOn
    self.init(
      context.signedIn, project: pool.projectName, newProject: nil,
      application: isConnected, connect: context.may(.manageKeys) ? "#connect" : nil,
      isTOTPOn: isOn,
      turnOn: context.may(.changePolicy) && !isOn
        ? PolicyLinks.turnOn(ConsolePaths.policy(pool)) : nil,
      enroll: context.may(action: .createUser)
        ? Link(text: Message("New user"), href: ConsolePaths.newUser(pool)) : nil)
  }

  /// The steps of an instance without users; nil if there are users, or several projects.
  init?(
    _ projects: [ProjectSummary], _ signedIn: SignedIn, _ identity: Identity
  ) async throws {
    let administrator = signedIn.administrator
    guard projects.count < 2, projects.allSatisfy({ $0.users == 0 }),
      administrator.may(.createProject, in: nil)
    else { return nil }
    let project = projects.first
    var isConnected = false
    if let project {
      isConnected = try await identity.apiKeys.list(project.id).contains {
        $0.lastUsedAt != nil
      }
    }
    let isOn = project.map { MFAConfiguration(totp: $0.totp).isTOTPOn } ?? false
    self.init(
      signedIn, project: project?.displayName, newProject: CreateProject.path(),
      application: isConnected,
      connect: project.map { ConsolePaths.overview.ofProject($0.id.text) + "#connect" },
      isTOTPOn: isOn,
      turnOn: isOn
        ? nil : project.map { PolicyLinks.turnOn(ConsolePaths.policy.ofProject($0.id.text)) },
      enroll: project.map {
        Link(
          text: Message("View the commands"),
          href: ConsolePaths.overview.ofProject($0.id.text) + "#first-run")
      })
  }

  private init(
    _ signedIn: SignedIn, project: String?, newProject: String?, application: Bool,
    connect: String?, isTOTPOn: Bool, turnOn: String?, enroll: Link?
  ) {
    let done = [
      !signedIn.session.factors.isEmpty, project != nil, application, isTOTPOn, false,
    ]
    let next = done.firstIndex(of: false)
    let titles = [
      Message("Your own second factor"), Message("Create a project"),
      Message("Connect an application"), Message("Turn on TOTP"), Message("Enroll the first user"),
    ]
    let sentences = [
      Message("Actions on users, such as removing a lost device, require it."),
      project.map { Message.verbatim(Formatted.short($0)) }
        ?? Message("A project contains the users of your applications."),
      Message("Point its Firebase SDK at this server’s address, with the project’s API key."),
      Message("Users can then enroll an authenticator app."),
      Message(
        """
        In your application, or with curl and oathtool: create a user with a password and a \
        verified email address, then enroll it.
        """),
    ]
    let links = [
      Link(text: Message("Set up a second factor"), href: signedIn.ownFactor),
      newProject.map { Link(text: Message("New project"), href: $0) },
      connect.map { Link(text: Message("Connect an application"), href: $0) },
      turnOn.map { Link(text: Message("Turn on TOTP…"), href: $0) },
      enroll,
    ]
    isReady = project != nil && isTOTPOn
    steps = titles.indices.map { index in
      FirstRunStep(
        number: index, title: titles[index], sentence: sentences[index],
        state: done[index]
          ? Chip.on(Message("done"))
          : index == next
            ? Chip.next(Message("next step"))
            : Chip.off(Message("not started")),
        link: done[index] ? nil : links[index])
    }
    progress = Message(
      one: "{number} of {count} step done", other: "{number} of {count} steps done",
      ["number": .number(done.count { $0 }), "count": .number(done.count)])
  }

  static let keys: Keys<Self> = [
    .text(\.progress),
    .list(\.steps),
    .flag(\.isReady),
  ]
}

extension Identity {
  /// Whether an application called the API with a key of the project, or a user of the pool signed
  /// in.
  fileprivate func isConnected(_ pool: Pool) async throws -> Bool {
    if try await apiKeys.list(pool.project).contains(where: {
      $0.lastUsedAt != nil
    }) {
      return true
    }
    let latest = try await accounts.list(pool, sort: .lastSignIn, limit: 1).items.first
    return latest?.lastLoginAt != nil
  }
}

struct FirstRunStep: ViewModel {
  let number: Int
  let title: Message
  let sentence: Message
  let state: Markup
  let link: Link?

  static let keys: Keys<Self> = [
    .text("number") { Message.value(.number($0.number)) },
    .text(\.title),
    .text(\.sentence),
    .markup(\.state),
    .optional(\.link),
  ]
}

/// The API key that pages show in code samples.
///
/// The key is valid for the project and all its tenants, so only administrators who can manage the
/// project's keys see it; a role in a tenant isn't sufficient.
struct ProjectKey: Sendable {
  /// The oldest key; nil if there is none or the administrator can't see it.
  let key: APIKey?
  /// Explains why no key is shown and how to get one; nil if a key is shown, or the pool has none.
  let note: Message?

  init(_ context: PoolContext, _ keys: APIKeys) async throws {
    let project = context.pool.project
    guard context.offers(.hosting) else {
      (key, note) = (nil, nil)
      return
    }
    guard context.signedIn.administrator.may(.manageKeys, project: project, tenant: nil) else {
      key = nil
      note = Message(
        "For the API key, ask an administrator of the project with the {roles} role.",
        ["roles": Permission.manageKeys.roleNames])
      return
    }
    key = try await keys.list(project).first
    note = key == nil ? Message("This project has no API key. Create one in its settings.") : nil
  }
}
