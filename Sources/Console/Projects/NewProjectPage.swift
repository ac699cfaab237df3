import HTTP
import Identity
import Localization

/// `/projects/new`: creates a project.
struct CreateProject: FormAction {
  static let action = ConsoleAction.createProject
  static let name = Message("Create project")
  static let path = Path("projects", "new")
  let pools: Pools
  let profile: Profile

  func page(_ target: FormTarget<SignedIn>) -> FormPage {
    FormPage(
      title: Message("New project"),
      crumbs: [Link(text: Message("Projects"), href: ConsolePaths.projects())],
      lead: profile == .standalone && target.signedIn.administrator.may(.manageTrust, in: nil)
        ? Message(
          "Are the users in Google, or in another Countersign? <a href=\"{href}\">Connect a project</a>.",
          ["href": .text(ConsolePaths.connect())]) : nil,
      fields: [
        .line(
          "name", Message("Name"),
          hint: Message("Shown in the console. Any language works. You can change it later.")),
        .line(
          "id", Message("Project ID <span class=\"soft\">(optional)</span>"),
          hint: Message(
            """
            Applications use it to identify the project, and it can’t be changed. From the name if \
            empty; otherwise 6 to 30 lowercase letters, digits, and hyphens, starting with a letter.
            """), Field.Look.code),
      ], button: Message("Create project"), back: ConsolePaths.projects())
  }

  func input(_ target: FormTarget<SignedIn>) throws(InvalidInput) -> String {
    let name = target.form.trimmed("name")
    guard !name.isEmpty else { throw .field("name", Message("Enter a project name.")) }
    return name
  }

  /// The ID as typed, or from the name.
  private func id(_ target: FormTarget<SignedIn>) -> String {
    let typed = target.form.trimmed("id")
    return typed.isEmpty ? Pools.projectID(named: target.form.trimmed("name")) ?? "" : typed
  }

  func perform(_ name: String, _ target: FormTarget<SignedIn>) async throws -> FormEnd {
    let project = try await pools.createProject(
      id: id(target), displayName: name, by: .console(target.request)
    ).value
    return FormEnd(
      Message("Project created. TOTP is off in its policy."),
      at: ConsolePaths.overview(project.pool))
  }

  func fault(_ error: PoolError, _ target: FormTarget<SignedIn>) throws -> FieldError {
    try FieldError(error, id: id(target))
  }
}
