import HTTP
import Identity
import Localization
import Templating

/// `…/settings/deletion`: lists what will be lost, asks for the name, and deletes a project or
/// tenant.
struct ScopeDeletionPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<ScopeDeletionView>

  private var frames: Frames { actions.frames }

  func askForProject(_ context: ProjectContext) async throws -> Response {
    try await page(context.signedIn, context.scope, try await frame(context, []))
  }

  func deleteProject(_ context: ProjectContext) async throws -> Response {
    try await delete(context.scope, context.signedIn) { errors in
      try await frame(context, errors)
    }
  }

  func askForTenant(_ context: ScopeContext) async throws -> Response {
    try await page(context.signedIn, context.scope, try await frame(context, []))
  }

  func deleteTenant(_ context: ScopeContext) async throws -> Response {
    guard context.scope.tenant != nil else { throw Refusal.notFound }
    return try await delete(context.scope, context.signedIn) { errors in
      try await frame(context, errors)
    }
  }

  private func delete(
    _ scope: Scope, _ signedIn: SignedIn, _ frame: ([FieldError]) async throws -> Frame
  ) async throws -> Response {
    let action = Self.action(of: scope)
    guard scope.isNamed(signedIn.form.trimmed("confirmation")) else {
      let errors = [Self.wrongName] + (try await actions.unmet(action, signedIn))
      return try await page(signedIn, scope, try await frame(errors))
    }
    do {
      let outcome = try await identity.pools.delete(
        project: scope.project, tenant: scope.tenant, actions.request(signedIn))
      return actions.leave(
        Self.deleted(scope), signedIn, after: outcome,
        to: scope.tenant == nil
          ? ConsolePaths.projects() : ConsolePaths.tenants(scope.project.text))
    } catch {
      let errors = try await actions.faults(error, action, signedIn) { (_: UserPoolError) in
        throw Refusal.notFound
      }
      return try await page(signedIn, scope, try await frame(errors))
    }
  }

  private static func action(of scope: Scope) -> ConsoleAction {
    scope.tenant == nil ? .deleteProject : .deleteTenant
  }

  private static func deleted(_ scope: Scope) -> Message {
    let name = Message.Value.name(Formatted.short(scope.name))
    return scope.tenant == nil
      ? Message("Project “{name}” deleted. Requests to it are now rejected.", ["name": name])
      : Message("Tenant “{name}” deleted. Requests to it are now rejected.", ["name": name])
  }

  private static let wrongName = FieldError(
    field: "confirmation", text: Message("Enter the name as shown above, or the ID."))

  private func frame(
    _ context: ProjectContext, _ errors: [FieldError]
  ) async throws -> Frame {
    let frame = try await frames.frame(Message("Delete · Settings"), in: context)
    return finished(frame, context.scope, errors)
  }

  private func frame(
    _ context: ScopeContext, _ errors: [FieldError]
  ) async throws -> Frame {
    let frame = try await frames.frame(Message("Delete · Settings"), in: context)
    return finished(frame, context.scope, errors)
  }

  private func finished(_ frame: Frame, _ scope: Scope, _ errors: [FieldError]) -> Frame {
    var frame = frame
    frame.crumbs = [Link(text: Message("Settings"), href: ConsolePaths.settings(scope))]
    frame.errors = errors
    return frame
  }

  private func page(
    _ signedIn: SignedIn, _ scope: Scope, _ frame: Frame
  ) async throws -> Response {
    let frameView = FrameView(frame)
    let model = ScopeDeletionView(
      frame: frameView, signedIn: signedIn, scope: scope, losses: try await losses(of: scope),
      fields: try await actions.fields(Self.action(of: scope), signedIn, frameView))
    return .html(view.render(model), status: frame.errors.isEmpty ? .ok : .unprocessableContent)
  }

  private func losses(of scope: Scope) async throws -> DeletionImpact {
    do {
      return try await identity.pools.deletionImpact(project: scope.project, tenant: scope.tenant)
    } catch is UserPoolError {
      throw Refusal.notFound
    }
  }
}

struct ScopeDeletionView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  let scope: Scope
  let losses: DeletionImpact
  let fields: ActionFields

  private var lost: [Message] {
    var lines = [
      losses.users == 0
        ? Message("No users.")
        : Message(
          one: """
            {count} user, {enrolled} of them with a second factor: accounts, passwords, factors, \
            and sessions.
            """,
          other: """
            {count} users, {enrolled} of them with a second factor: accounts, passwords, factors, \
            and sessions.
            """,
          ["count": .number(losses.users), "enrolled": .number(losses.enrolledUsers)])
    ]
    if losses.tenants > 0 {
      lines.append(
        Message(
          one: "{count} tenant, including its policy.",
          other: "{count} tenants, including their policies.", ["count": .number(losses.tenants)]))
    }
    if scope.tenant == nil {
      lines.append(
        Message(
          one: "{count} API key: applications that use it can no longer connect.",
          other: "{count} API keys: applications that use one can no longer connect.",
          ["count": .number(losses.apiKeys)]))
    }
    if losses.serviceTokens > 0 {
      lines.append(
        Message(
          one: "{count} service token.", other: "{count} service tokens.",
          ["count": .number(losses.serviceTokens)]))
    }
    if losses.roles > 0 {
      lines.append(
        Message(
          one: "{count} administrator role.",
          other: "{count} administrator roles.", ["count": .number(losses.roles)]))
    }
    if losses.groupRoles > 0 {
      lines.append(
        Message(
          one: "{count} group role of the sign-in provider.",
          other: "{count} group roles of the sign-in provider.",
          ["count": .number(losses.groupRoles)]))
    }
    if losses.invitations > 0 {
      lines.append(
        Message(
          one: "{count} pending administrator invitation.",
          other: "{count} pending administrator invitations.",
          ["count": .number(losses.invitations)]))
    }
    return lines
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("scopeName") { $0.scope.name },
    .flag("isTenant") { $0.scope.tenant != nil },
    .text("id") { $0.scope.objectID },
    .text("action") {
      $0.scope.tenant.map { [project = $0.scope.project] tenant in
        ConsolePaths.tenantDeletion(project.text, tenant.text)
      } ?? ConsolePaths.projectDeletion($0.scope.project.text)
    },
    .text("csrf") { $0.signedIn.session.csrfToken },
    .texts("lost") { $0.lost },
    .object("authorization") { $0.fields },
    .text("typed") { $0.signedIn.form.trimmed("confirmation") },
    .text("error") { $0.frame.error(at: "confirmation") },
    .text("keep") { ConsolePaths.settings($0.scope) },
  ]
}
