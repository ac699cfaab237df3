import HTTP
import Identity
import Templating

/// `…/settings/deletion`: says what will be lost, asks for the name, and deletes a project or tenant.
struct ScopeDeletionPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<ScopeDeletionView>

  func askForProject(_ context: ProjectContext) async throws(Refusal) -> Response {
    try await page(
      context.signedIn, context.project.scope, try await frame(context, typedWrong: false))
  }

  func deleteProject(_ context: ProjectContext) async throws(Refusal) -> Response {
    let scope = context.project.scope
    guard scope.isNamed(context.signedIn.form.trimmed("confirmation")) else {
      return try await page(context.signedIn, scope, try await frame(context, typedWrong: true))
    }
    do {
      try await identity.projects.delete(context.project.id, by: context.signedIn.author)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    frames.leave(
      "Deleted the project “\(Words.isolated(scope.name))”. Nothing of it is served any more.",
      for: context.signedIn)
    return .redirect(to: ConsolePaths.projects())
  }

  func askForTenant(_ context: ScopeContext) async throws(Refusal) -> Response {
    try await page(context.signedIn, context.scope, try await frame(context, typedWrong: false))
  }

  func deleteTenant(_ context: ScopeContext) async throws(Refusal) -> Response {
    let scope = context.scope
    guard let tenant = scope.tenant else { throw .notFound }
    guard scope.isNamed(context.signedIn.form.trimmed("confirmation")) else {
      return try await page(context.signedIn, scope, try await frame(context, typedWrong: true))
    }
    do {
      try await identity.tenants.delete(
        project: scope.project, tenant: tenant, by: context.signedIn.author)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    frames.leave(
      "Deleted the tenant “\(Words.isolated(scope.name))”. Nothing of it is served any more.",
      for: context.signedIn)
    return .redirect(to: ConsolePaths.tenants(scope.project.text))
  }

  private func frame(
    _ context: ProjectContext, typedWrong: Bool
  ) async throws(Refusal) -> Frame {
    let frame = try await frames.frame("Delete · Settings", in: context, tab: .settings)
    return finished(frame, context.project.scope, typedWrong: typedWrong)
  }

  private func frame(
    _ context: ScopeContext, typedWrong: Bool
  ) async throws(Refusal) -> Frame {
    let frame = try await frames.frame("Delete · Settings", in: context, tab: .settings)
    return finished(frame, context.scope, typedWrong: typedWrong)
  }

  private func finished(_ frame: Frame, _ scope: Scope, typedWrong: Bool) -> Frame {
    var frame = frame
    frame.crumbs = [Link(text: "Settings", href: ConsolePaths.settings(scope))]
    if typedWrong {
      frame.errors = [
        FieldError(field: "confirmation", text: "Type the name as it stands above, or the id.")
      ]
    }
    return frame
  }

  private func page(
    _ signedIn: SignedIn, _ scope: Scope, _ frame: Frame
  ) async throws(Refusal) -> Response {
    let model = ScopeDeletionView(
      frame: FrameView(frame), signedIn: signedIn, scope: scope, losses: try await losses(of: scope)
    )
    return .html(view.render(model), status: frame.errors.isEmpty ? .ok : .unprocessableContent)
  }

  private func losses(of scope: Scope) async throws(Refusal) -> Losses {
    if let tenant = scope.tenant {
      do {
        return try await identity.tenants.losses(project: scope.project, tenant: tenant)
      } catch {
        guard case .unavailable = error else { throw .notFound }
        throw .unavailable(error)
      }
    }
    do {
      return try await identity.projects.losses(scope.project)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
  }
}

struct ScopeDeletionView: ViewModel {
  let frame: FrameView
  let signedIn: SignedIn
  let scope: Scope
  let losses: Losses

  private var lost: [String] {
    var lines = [
      losses.users == 0
        ? "No user is lost: there is none."
        : "\(Words.count(losses.users, "user", "users")), \(Words.number(losses.enrolledUsers)) of them with a second factor: accounts, passwords, factors and sessions."
    ]
    if losses.tenants > 0 {
      lines.append("\(Words.count(losses.tenants, "tenant", "tenants")) with their policies.")
    }
    if scope.tenant == nil {
      lines.append(
        "\(Words.count(losses.apiKeys, "API key", "API keys")): applications that carry one are refused."
      )
    }
    if losses.serviceTokens > 0 {
      lines.append("\(Words.count(losses.serviceTokens, "service token", "service tokens")).")
    }
    return lines
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("kindInSentence") { $0.scope.kindInSentence },
    .text("scopeName") { $0.scope.name },
    .text("id") { $0.scope.tenant?.text ?? $0.scope.project.text },
    .text("action") {
      $0.scope.tenant.map { [project = $0.scope.project] tenant in
        ConsolePaths.tenantDeletion(project.text, tenant.text)
      } ?? ConsolePaths.projectDeletion($0.scope.project.text)
    },
    .text("csrf") { $0.signedIn.session.csrfToken },
    .texts("lost") { $0.lost },
    .text("typed") { $0.signedIn.form.trimmed("confirmation") },
    .text("error") { $0.frame.error(at: "confirmation") },
    .text("keep") { ConsolePaths.settings($0.scope) },
  ]
}
