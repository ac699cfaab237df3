import HTTP
import Identity
import Localization
import Templating

/// `/projects/new`: creates a project.
struct NewProjectPage: Sendable {
  let pools: UserPools
  let frames: Frames
  let view: Template<NewProjectView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    await page(signedIn, name: "", id: "", errors: [])
  }

  func create(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let name = signedIn.form.trimmed("name")
    let id = signedIn.form.trimmed("id")
    guard !name.isEmpty else {
      return await page(
        signedIn, name: name, id: id,
        errors: [FieldError(field: "name", text: Message("Enter a project name."))])
    }
    do {
      let project = try await pools.createProject(id: id, displayName: name, signedIn.plainRequest)
      frames.leave(Message("Project created. TOTP is off in its policy."), for: signedIn)
      return .redirect(to: ConsolePaths.overview(project.scope))
    } catch {
      let fault = try FieldError(try error.failure(of: .createProject), id: id)
      return await page(signedIn, name: name, id: id, errors: [fault])
    }
  }

  private func page(
    _ signedIn: SignedIn, name: String, id: String, errors: [FieldError]
  ) async -> Response {
    var frame = await frames.frame(Message("New project"), for: signedIn)
    frame.errors = errors
    frame.crumbs = [Link(text: Message("Projects"), href: ConsolePaths.projects())]
    let model = NewProjectView(
      frame: FrameView(frame), csrf: signedIn.session.csrfToken, name: name, id: id)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}

struct NewProjectView: ViewModel {
  let frame: FrameView
  let csrf: String
  let name: String
  let id: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.newProject() },
    .text("cancel") { _ in ConsolePaths.projects() },
    .text(\.csrf),
    .text(\.name),
    .text("nameError") { $0.frame.error(at: "name") },
    .text(\.id),
    .text("idError") { $0.frame.error(at: "id") },
  ]
}
