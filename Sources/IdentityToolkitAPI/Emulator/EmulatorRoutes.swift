import HTTP
import Identity
import JSON

/// What only the emulator profile has, open to everybody: tests clear and inspect it so.
extension Routes {
  mutating func addEmulator() {
    emulator(.delete, "accounts", methods.clearAccounts)
    emulator(.get, "config", methods.getEmulatorConfig)
    emulator(.patch, "config", methods.updateEmulatorConfig)
    // Neither mails nor messages are sent, so there are no codes in them.
    emulator(.get, "oobCodes") { _ in ["oobCodes": []] }
    emulator(.get, "verificationCodes") { _ in ["verificationCodes": []] }
    router.on(.get, Path()) { [gate] request in
      await gate.open(request, .both) { () async throws(WireError) in
        [
          "authEmulator": [
            "ready": true, "docs": "https://firebase.google.com/docs/emulator-suite",
          ]
        ]
      }
    }
  }

  /// A method over a project, and over a tenant.
  private mutating func emulator(
    _ method: Method, _ name: String, _ work: @escaping Gate.AdminMethod
  ) {
    let project = Path(
      "emulator", "v1", "projects", nil, .literal(name), parameters: String.self)
    router.on(method, project) { [gate] request, project in
      await gate.emulator(request, project: project, tenant: nil, work)
    }
    let tenant = Path(
      "emulator", "v1", "projects", nil, "tenants", nil, .literal(name),
      parameters: String.self, String.self)
    router.on(method, tenant) { [gate] request, project, tenant in
      await gate.emulator(request, project: project, tenant: tenant, work)
    }
  }
}

extension Gate {
  fileprivate func emulator(
    _ request: Request, project: String, tenant: String?, _ work: AdminMethod
  ) async -> Response {
    await open(request, .both) { () async throws(WireError) in
      let message = try Body.message(of: request)
      return try await work(
        try await adminCall(
          request, message, .readConfig, project: ID(project), tenant: tenant.map { ID($0) },
          .emulatorOwner))
    }
  }
}

extension Methods {
  func clearAccounts(_ call: AdminCall) async throws(WireError) -> JSON {
    do throws(AccountError) {
      try await identity.accounts.deleteAll(call.scope, by: call.author)
    } catch {
      throw WireError(error)
    }
    return [:]
  }

  func getEmulatorConfig(_ call: AdminCall) async throws(WireError) -> JSON {
    Methods.emulatorConfig(try await project(call.scope.project))
  }

  func updateEmulatorConfig(_ call: AdminCall) async throws(WireError) -> JSON {
    let duplicates = try call.message.message("signIn")?.flag("allowDuplicateEmails")
    let privacy = try call.message.message("emailPrivacyConfig")?.flag("enableImprovedEmailPrivacy")
    do throws(ProjectError) {
      let project = try await identity.projects.update(call.scope.project, by: call.author) {
        (project) throws(ProjectError) in
        if let duplicates { project.allowDuplicateEmails = duplicates }
        if let privacy { project.emailPrivacy = privacy }
      }
      return Methods.emulatorConfig(project)
    } catch {
      throw WireError(error)
    }
  }

  private static func emulatorConfig(_ project: Project) -> JSON {
    [
      "signIn": ["allowDuplicateEmails": .bool(project.allowDuplicateEmails)],
      "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(project.emailPrivacy)],
    ]
  }
}
