import HTTP
import Identity
import Localization

/// `S/users/{uid}/data`: downloads everything that's stored about a user.
struct ExportUserData: UserAction {
  static let action = ConsoleAction.exportUserData
  static let name = Message("Export user data")
  static let path = PoolPath1("users", nil, "data")
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message { Message("Export user data…") }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "Export everything about {user}?", ["user": account.shortLabel]),
      consequences: [
        Message(
          """
          The JSON file has everything that’s stored about the user: account, factors, sessions, \
          code attempts, requests, messages, and audit log entries.
          """),
        Message("It contains no secrets, codes, password hashes, or message texts."),
        Message(
          """
          It names administrators who acted on the user. Check whether the user may see that \
          before you send it.
          """),
      ], button: Message("Export user data"), isDestructive: false)
    page.isDownload = true
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.userData.export(
      target.pool, target.user, by: .console(target.request))
    var response = Response(body: .bytes(done.value))
    response.fields[.contentType] = "application/json"
    // Not the UID, which can be any text.
    response.fields.add(.contentDisposition, "attachment; filename=\"user-data.json\"")
    return FormEnd(file: response, after: done)
  }
}

enum UserDataRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    table.add(EraseDeletedUser(userData: parts.identity.userData), parts.actions)
  }
}
