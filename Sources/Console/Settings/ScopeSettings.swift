import Identity

/// The settings of a project or tenant.
struct ScopeValues: Sendable {
  let scope: Scope
  let displayName: String
  let signIn: SignInMethods
  let createdAt: Instant
  /// Whether users can unenroll a factor only in a session that was signed in with a second factor.
  let withdrawalNeedsFactor: Bool
  let passwords: PasswordPolicy?
  let userPermissions: UserPermissions
  /// Whether email enumeration protection is on.
  let emailPrivacy: Bool
  /// The settings that only projects have; nil for a tenant.
  let project: ProjectValues?

  struct ProjectValues: Sendable {
    let domains: [String]
    let expiresAnonymous: Bool
    let importsTOTP: Bool
  }
}

/// Reads and changes the settings of a project or tenant.
struct ScopeSettings: Sendable {
  let identity: Identity

  func read(_ scope: Scope) async throws(Refusal) -> ScopeValues {
    guard let tenant = scope.tenant else {
      do throws(ProjectError) {
        let project = try await identity.projects.find(scope.project)
        return ScopeValues(
          scope: project.scope, displayName: project.displayName, signIn: project.signIn,
          createdAt: project.createdAt, withdrawalNeedsFactor: project.withdrawalNeedsFactor,
          passwords: project.passwords,
          userPermissions: project.userPermissions, emailPrivacy: project.emailPrivacy,
          project: ScopeValues.ProjectValues(
            domains: project.authorizedDomains, expiresAnonymous: project.expiresAnonymous,
            importsTOTP: project.importsTOTP))
      } catch {
        guard case .unavailable = error else { throw .notFound }
        throw .unavailable(error)
      }
    }
    let privacy: Bool
    do { privacy = try await identity.scopes.hidesUsers(scope) } catch {
      throw .unavailable(error)
    }
    do throws(TenantError) {
      let found = try await identity.tenants.find(project: scope.project, tenant: tenant)
      return ScopeValues(
        scope: found.scope, displayName: found.displayName, signIn: found.signIn,
        createdAt: found.createdAt, withdrawalNeedsFactor: found.withdrawalNeedsFactor,
        passwords: found.passwords, userPermissions: found.userPermissions,
        emailPrivacy: privacy, project: nil)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
  }

  /// Changes the settings whose values differ from when the form was opened.
  ///
  /// - Returns: The outcome, or the errors to show next to the fields.
  func change(
    _ scope: Scope, to answers: SettingsAnswers, _ actions: ActionForms, _ signedIn: SignedIn
  ) async throws(Refusal) -> Result<ActionOutcome<Void>, SettingsFaults> {
    if let fault = answers.passwords.fault { return .failure(SettingsFaults(errors: [fault])) }
    let request = actions.request(signedIn)
    guard let tenant = scope.tenant else {
      do {
        let outcome = try await identity.projects.update(scope.project, request) {
          (edit) throws(ProjectError) in
          answers.apply(to: &edit.displayName, &edit.signIn, &edit.withdrawalNeedsFactor)
          answers.passwords.apply(to: &edit.passwords, &edit.userPermissions)
          answers.passwords.apply(expiry: &edit.expiresAnonymous)
          answers.apply(
            domains: &edit.authorizedDomains, privacy: &edit.emailPrivacy,
            importsTOTP: &edit.importsTOTP)
        }
        return .success(outcome.done)
      } catch {
        return .failure(try await SettingsFaults(error, actions, signedIn, Self.fault))
      }
    }
    do {
      let outcome = try await identity.tenants.update(
        project: scope.project, tenant: tenant, request
      ) { (edit) throws(TenantError) in
        answers.apply(to: &edit.displayName, &edit.signIn, &edit.withdrawalNeedsFactor)
        answers.passwords.apply(to: &edit.passwords, &edit.userPermissions)
        if answers.privacy.isChanged { edit.emailPrivacy = answers.privacy.now }
      }
      return .success(outcome.done)
    } catch {
      return .failure(try await SettingsFaults(error, actions, signedIn, Self.fault))
    }
  }

  /// Turns sign-in on or off for an entire user pool.
  func switchSignIn(
    _ scope: Scope, off: Bool, _ actions: ActionForms, _ signedIn: SignedIn
  ) async throws(Refusal) -> Result<ActionOutcome<Void>, SettingsFaults> {
    let request = actions.request(signedIn)
    guard let tenant = scope.tenant else {
      do {
        return .success(
          try await identity.projects.update(scope.project, request) {
            (edit) throws(ProjectError) in edit.disableAuth = off
          }.done)
      } catch {
        return .failure(try await SettingsFaults(error, actions, signedIn, Self.fault))
      }
    }
    do {
      return .success(
        try await identity.tenants.update(project: scope.project, tenant: tenant, request) {
          (edit) throws(TenantError) in edit.disableAuth = off
        }.done)
    } catch {
      return .failure(try await SettingsFaults(error, actions, signedIn, Self.fault))
    }
  }

  private static func fault(_ error: ProjectError) throws(Refusal) -> FieldError {
    switch error {
    case .invalidDisplayName:
      FieldError(field: "name", text: "Enter a name of 1 to 100 characters without line breaks.")
    case .invalidDomain(let domain):
      FieldError(
        field: "domains",
        text:
          "\(Words.isolated(domain)) isn’t a valid hostname. Enter names such as app.example.com, without https:// or a port."
      )
    case .links(.ownerOnly):
      FieldError(field: "domains", text: "Only an owner can change the authorized domains.")
    case .passwords(let error): Self.fault(error)
    case .notFound: throw .notFound
    case .links, .invalidID, .idTaken, .policy, .recaptcha, .unavailable: throw .unavailable(error)
    }
  }

  private static func fault(_ error: PasswordPolicyError) -> FieldError {
    switch error {
    case .shortestOutOfRange: PasswordAnswers.range
    case .longestOutOfRange, .longestTooLong, .versionCount:
      FieldError(
        field: "password-shortest",
        text: "The maximum length, set through the API, is less than that. Enter a smaller number.")
    }
  }

  private static func fault(_ error: TenantError) throws(Refusal) -> FieldError {
    switch error {
    case .missingDisplayName: FieldError(field: "name", text: "Enter a tenant name.")
    case .invalidDisplayName:
      FieldError(
        field: "name",
        text:
          "Enter a name of 4 to 20 letters (a–z, A–Z), digits, and hyphens, starting with a letter."
      )
    case .passwords(let error): Self.fault(error)
    case .projectNotFound, .notFound: throw .notFound
    case .multiTenancyOff, .links, .policy, .recaptcha, .unavailable: throw .unavailable(error)
    }
  }
}

/// The reasons why settings aren't saved, as field errors.
struct SettingsFaults: Error {
  let errors: [FieldError]
  /// Whether the administrator has to re-authenticate, for a change that weakens security.
  var asksForProof = false

  init(errors: [FieldError]) { self.errors = errors }

  init<Reason>(
    _ error: ActionError<Reason>, _ actions: ActionForms, _ signedIn: SignedIn,
    _ fault: (Reason) throws(Refusal) -> FieldError
  ) async throws(Refusal) {
    switch error {
    // Validation errors come first: whether a change requires re-authentication is known only once
    // it's valid.
    case .failed(let reason): errors = [try fault(reason)]
    case .refused(let refusal):
      errors = try ActionForms.faults(refusal, .weakenSettings, signedIn)
      asksForProof = true
    }
  }
}

extension ActionOutcome {
  /// The outcome without its value.
  fileprivate var done: ActionOutcome<Void> { ActionOutcome<Void>(value: (), renewed: renewed) }
}
