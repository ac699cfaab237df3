import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/tenants/new`: creates a tenant.
struct NewTenantPage: Sendable {
  let pools: UserPools
  let frames: Frames
  let view: Template<NewTenantView>

  func show(_ context: ProjectContext) async throws(Refusal) -> Response {
    try await page(context, name: "", errors: [])
  }

  func create(_ context: ProjectContext) async throws(Refusal) -> Response {
    let name = context.signedIn.form.trimmed("name")
    let tenant: UserPool
    do {
      tenant = try await pools.createTenant(
        in: context.scope.project, .newTenant(named: name), context.signedIn.plainRequest)
    } catch {
      let fault = try FieldError(try error.failure(of: .createTenant))
      return try await page(context, name: name, errors: [fault])
    }
    frames.leave(Message("Tenant created. TOTP is off in its policy."), for: context.signedIn)
    return .redirect(to: ConsolePaths.overview(tenant.scope))
  }

  private func page(
    _ context: ProjectContext, name: String, errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let project = context.scope.project.text
    var frame = try await frames.frame(Message("New tenant"), in: context)
    frame.errors = errors
    frame.crumbs = [Link(text: Message("Tenants"), href: ConsolePaths.tenants(project))]
    let model = NewTenantView(
      frame: FrameView(frame), projectName: context.scope.name,
      action: ConsolePaths.newTenant(project), cancel: ConsolePaths.tenants(project),
      csrf: context.signedIn.session.csrfToken, name: name)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct NewTenantView: ViewModel {
  let frame: FrameView
  let projectName: String
  let action: String
  let cancel: String
  let csrf: String
  let name: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.projectName),
    .text(\.action),
    .text(\.cancel),
    .text(\.csrf),
    .text(\.name),
    .text("nameError") { $0.frame.error(at: "name") },
  ]
}
