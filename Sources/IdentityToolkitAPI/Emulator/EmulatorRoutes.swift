import HTTP
import Identity
import JSON

/// Routes that only the emulator profile has, open to everyone, with which tests clear and inspect
/// its state.
extension Routes {
  mutating func addEmulator() {
    emulator(.delete, "accounts", Methods.clearAccounts, methods.clearAccounts)
    emulator(.get, "config", Methods.getEmulatorConfig, methods.getEmulatorConfig)
    emulator(.patch, "config", Methods.updateEmulatorConfig, methods.updateEmulatorConfig)
    addEmulatorCodes()
    addEmulatorWidget()
    emulator(.get, "verificationCodes", Methods.verificationCodes, methods.verificationCodes)
    let root: Path<> = Path()
    add(
      root.route(.get) { [authorizer] request in
        await authorizer.open(request, .both) {
          [
            "authEmulator": [
              "ready": true, "docs": "https://firebase.google.com/docs/emulator-suite",
              "apiSpec": "/emulator/openapi.json",
            ]
          ]
        }
      }, Methods.greeting, .emulator, .both)
  }

  mutating func emulator(
    _ method: Method, _ name: String, _ declaration: Declaration,
    _ work: @escaping CallAuthorizer.AdminMethod
  ) {
    let project = Path(
      "emulator", "v1", "projects", nil, .literal(name), parameters: String.self)
    add(
      project.route(method) { [authorizer] request, project in
        await authorizer.emulator(request, project: project, tenant: nil, work)
      }, declaration, .emulator, .both, below: "emulator.projects.")
    let tenant = Path(
      "emulator", "v1", "projects", nil, "tenants", nil, .literal(name),
      parameters: String.self, String.self)
    add(
      tenant.route(method) { [authorizer] request, project, tenant in
        await authorizer.emulator(request, project: project, tenant: tenant, work)
      }, declaration, .emulator, .both, below: "emulator.projects.tenants.")
  }
}

extension Methods {
  static let clearAccounts = Declaration(
    "accounts.delete", "Deletes all users.", gives: [:], failing: [404])
  static let getEmulatorConfig = Declaration(
    "config.get", "Returns two emulator settings.", gives: emulatorConfig, failing: [404])
  static let updateEmulatorConfig = Declaration(
    "config.update", "Updates two emulator settings.", takes: emulatorConfig, gives: emulatorConfig,
    failing: [404])
  static let verificationCodes = Declaration(
    "verificationCodes.list", "Lists the codes of text messages that weren't sent.",
    gives: [
      "verificationCodes": .list(["phoneNumber": .text, "sessionInfo": .text, "code": .text])
        .required
    ], failing: [404])
  static let greeting = Declaration(
    "emulator.ready", "Reports that the emulator is running.",
    gives: [
      "authEmulator": .message([
        "ready": .flag.required, "docs": .text.required, "apiSpec": .text.required,
      ]).required
    ])

  private static let emulatorConfig: Schema = [
    "signIn": ["allowDuplicateEmails": .flag],
    "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .flag],
  ]
}

extension CallAuthorizer {
  fileprivate func emulator(
    _ request: Request, project: String, tenant: String?, _ work: AdminMethod
  ) async -> Response {
    await open(request, .both) { () in
      let message = try Body.message(of: request)
      return try await work(
        try await adminCall(
          request, message, .readConfig, project: try await self.project(ID(project)),
          tenant: tenant.map { ID($0) }, .emulatorOwner))
    }
  }
}

extension Methods {
  func clearAccounts(_ call: AdminCall) async throws -> JSON {
    try await identity.accounts.deleteAll(call.pool, by: call.author)
    return [:]
  }

  func getEmulatorConfig(_ call: AdminCall) async throws -> JSON {
    Methods.emulatorConfig(try await settings(of: call))
  }

  func updateEmulatorConfig(_ call: AdminCall) async throws -> JSON {
    let duplicates = try call.message.message("signIn")?.flag("allowDuplicateEmails")
    let privacy = try call.message.message("emailPrivacyConfig")?.flag("enableImprovedEmailPrivacy")
    let settings = try await identity.pools.update(
      project: call.pool.project, by: .program(call.author)
    ) {
      (edit) throws(PoolError) in
      if let duplicates { edit.project?.allowDuplicateEmails = duplicates }
      if let privacy { edit.emailPrivacy = privacy }
    }.value
    return Methods.emulatorConfig(settings)
  }

  private static func emulatorConfig(_ settings: PoolSettings) -> JSON {
    [
      "signIn": ["allowDuplicateEmails": .bool(settings.project?.allowDuplicateEmails ?? false)],
      "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(settings.hidesUsers)],
    ]
  }
}
