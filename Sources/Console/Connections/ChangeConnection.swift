import HTTP
import Identity
import IdentityToolkitClient
import Localization
import MailText

/// `/projects/{p}/settings/connection/changes/{change}`: changes the connection of a project.
struct ChangeConnection: FormAction {
  /// The raw value is in the address.
  enum Change: String, Sendable {
    case replace, resume, gone, end
  }

  static let action = ConsoleAction.changeConnection
  static let name = Message("Change connection")
  static let path = ProjectPath1("settings", "connection", "changes", nil)
  let connections: Connections

  private func change(_ target: FormTarget<ProjectContext>) throws -> Change {
    guard let change = Change(rawValue: target.object) else { throw Refusal.notFound }
    return change
  }

  func page(_ target: FormTarget<ProjectContext>) async throws -> FormPage {
    let (change, known) = (try change(target), try await connections.find(target.pool.project))
    let back = ConsolePaths.connection(target.pool.project.text)
    var (fields, hidden): ([Field], [(String, String)]) = ([], [])
    let name: Message
    let consequence: Message
    switch change {
    case .replace:
      name = Message("Replace credential")
      consequence = Message("It must be for the same project. Delete the old one there, too.")
      let levels = AccessLevel.allCases.map(\.rawValue).map { level in
        Field.Option(value: level, label: .verbatim(level))
      }
      fields = [
        .menu("access", Message("Access level"), levels, value: known.access.rawValue),
        .credential,
      ]
    case .resume:
      name = Message("Resume connection")
      consequence = Message("No other server must read the project with this credential.")
    case .gone:
      let pools = try await connections.pools(of: known.project)
      guard let pool = pools.first(where: \.isUndecided) else { throw target.elsewhere(back) }
      hidden = [("walk", pool.walkName)]
      name = Message("They’re gone")
      consequence = Message(
        "Everyone whom the last walk didn’t see is gone, however many, and deleted after 30 days.")
    case .end:
      name = Message("Disconnect project")
      consequence = Message(
        "The credential and the copy of the users are deleted; roles and the audit log are kept.")
    }
    return FormPage(
      title: name, crumbs: [Link(text: Message("Connection"), href: back)],
      consequences: [consequence, Message("Nothing changes at the other server.")],
      fields: fields, hidden: hidden.map { HiddenField(name: $0, value: $1) }, button: name,
      isDestructive: change == .gone || change == .end, isFinal: change == .end, back: back)
  }

  /// Returns the new credential, checked; nil for another change.
  func input(_ target: FormTarget<ProjectContext>) async throws -> NewConnection? {
    guard try change(target) == .replace else { return nil }
    let remote = try await connections.find(target.pool.project).remote
    return try await ConnectionDraft(answers: target.form).checked(by: connections, of: remote)
  }

  func perform(
    _ new: NewConnection?, _ target: FormTarget<ProjectContext>
  ) async throws -> FormEnd {
    let (pool, caller) = (target.pool, Caller.console(target.request))
    let outcome: ConnectionOutcome
    switch (try change(target), new) {
    case (.replace, let new?):
      outcome = try await connections.replace(in: pool, by: new, by: caller)
    case (.gone, _):
      let walk = target.form.trimmed("walk")
      let pools = try await connections.pools(of: pool.project)
      guard let found = pools.first(where: { $0.walkName == walk }) else {
        throw ConnectionError.otherWalk
      }
      outcome = try await connections.acceptGone(
        from: found.pool, of: pool, walk: found.walk, by: caller)
    case (.end, _): outcome = try await connections.end(pool, by: caller)
    case (.resume, _): outcome = try await connections.resume(pool, by: caller)
    case (.replace, nil): throw Refusal.unreadableForm
    }
    return outcome.value.state == .disconnected
      ? FormEnd(Message("Project disconnected."), at: ConsolePaths.projects(), after: outcome)
      : FormEnd(
        Message("Connection changed. Everything is being read."),
        at: ConsolePaths.connection(pool.project.text), after: outcome)
  }

  func fault(_ error: ConnectionError, _ target: FormTarget<ProjectContext>) -> FieldError {
    FieldError(field: "note", text: error.message())
  }
}

extension MirroredPool {
  /// What tells its last walk from all others.
  fileprivate var walkName: String { "\(pool.key).\(walk)" }
}
