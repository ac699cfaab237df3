import HTTP
import Identity
import Localization

/// `/projects/new`: creates a project.
struct CreateProject: FormAction {
  static let action = ConsoleAction.createProject
  static let name = Message("Create project")
  static let path = Path("projects", "new")
  let pools: Pools

  func page(_ target: FormTarget<SignedIn>) -> FormPage {
    FormPage(
      title: Message("New project"),
      crumbs: [Link(text: Message("Projects"), href: ConsolePaths.projects())],
      fields: [
        .line(
          "name", Message("Name"),
          hint: Message("Shown in the console. Any language works. You can change it later.")),
        .line(
          "id", Message("Project ID"),
          hint: Message(
            """
            6 to 30 lowercase letters, digits, and hyphens, starting with a letter. Applications \
            use it to identify the project. It can’t be changed.
            """), Field.Look.code),
      ], button: Message("Create project"), back: ConsolePaths.projects())
  }

  /// Returns the name.
  func input(_ target: FormTarget<SignedIn>) throws(InvalidInput) -> String {
    let name = target.form.trimmed("name")
    guard !name.isEmpty else { throw .field("name", Message("Enter a project name.")) }
    return name
  }

  func perform(_ name: String, _ target: FormTarget<SignedIn>) async throws -> FormEnd {
    let project = try await pools.createProject(
      id: target.form.trimmed("id"), displayName: name, by: .console(target.request)
    ).value
    return FormEnd(
      Message("Project created. TOTP is off in its policy."),
      at: ConsolePaths.overview(project.pool))
  }

  func fault(_ error: PoolError, _ target: FormTarget<SignedIn>) throws -> FieldError {
    try FieldError(error, id: target.form.trimmed("id"))
  }
}
