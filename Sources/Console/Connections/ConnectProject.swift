import HTTP
import Identity
import IdentityToolkitClient
import Localization
import MailText

/// `/projects/new/connection/confirmation`: connects a project.
struct ConnectProject: FormAction {
  typealias Reason = any Error

  static let action = ConsoleAction.connectProject
  static let name = Message("Connect project")
  static let path = Path("projects", "new", "connection", "confirmation")
  let identity: Identity

  private func draft(_ target: FormTarget<SignedIn>) async throws -> ConnectionDraft {
    let draft = try await ConnectionDraft.find(identity.consoleStorage, target.signedIn)
    guard let draft, !draft.credential.isEmpty else {
      throw target.elsewhere(ConsolePaths.connect())
    }
    return draft
  }

  func page(_ target: FormTarget<SignedIn>) async throws -> FormPage {
    let draft = try await draft(target)
    guard let remote = draft.remote else { throw Refusal.unreadableForm }
    var page = FormPage(
      title: draft.title, crumbs: [Link(text: Message("Projects"), href: ConsolePaths.projects())],
      steps: ConnectionDraft.steps(at: 5),
      consequences: [
        Message("Users are copied with their factors; no passwords, hashes, or custom claims."),
        Message("Nothing changes at {server}.", ["server": .text(remote.server)]),
        Message("The access level is {level}.", ["level": .text(draft.access.rawValue)]),
      ],
      fields: [
        .line("name", Message("Name in the console"), Field.Look.title, value: remote.id),
        .line(
          "id", Message("Project ID here <span class=\"soft\">(optional)</span>"),
          hint: Message("The ID there if empty. Enter another one if that’s in use here."),
          Field.Look.medium),
      ], button: Message("Connect project"), back: ConsolePaths.connectionCredential())
    let former = try await identity.connections.formerRoles(of: remote).map { each in
      Message(
        "{name} ({role}, {place})",
        [
          "name": .name(each.holder), "role": .message(each.grant.role.name),
          "place": .message(each.grant.placeText),
        ])
    }
    if !former.isEmpty {
      page.fields.append(
        .check("keep-roles", Message("Restore all former roles"), hint: .value(.list(former))))
    }
    return page
  }

  func input(_ target: FormTarget<SignedIn>) async throws -> NewConnection {
    var new = try await draft(target).checked(by: identity.connections, at: "name")
    let id = target.form.trimmed("id")
    (new.localID, new.displayName) = (id.isEmpty ? nil : id, target.form.trimmed("name"))
    new.keepsRoles = target.form.trimmed("keep-roles") == "on"
    return new
  }

  func perform(_ new: NewConnection, _ target: FormTarget<SignedIn>) async throws -> FormEnd {
    let outcome = try await identity.connections.add(new, by: .console(target.request))
    _ = try await identity.consoleStorage.take(
      .connection, about: ConnectionDraft.subject,
      for: .administrator(target.signedIn.administrator.id))
    return FormEnd(
      Message("Project connected. Its users are being read."),
      at: ConsolePaths.connection(outcome.value.project.text), after: outcome)
  }

  func fault(_ error: any Error, _ target: FormTarget<SignedIn>) throws -> FieldError {
    if let error = error as? PoolError {
      return try FieldError(error, id: target.form.trimmed("id"))
    }
    guard let error = error as? ConnectionError else { throw error }
    return FieldError(field: "name", text: error.message())
  }
}
