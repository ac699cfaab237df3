import HTTP
import Identity

/// Messages to users.
enum OutboxRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let outbox = OutboxPage(
      messages: identity.messages, accounts: identity.accounts, actions: parts.actions,
      list: try parts.template("outbox/outbox", for: OutboxView.self),
      one: try parts.template("outbox/message", for: MessageView.self))
    table.inScope(.get, ConsolePaths.outbox, .findUsers, outbox.show)
    table.inScope(.get, ConsolePaths.message, .findUsers, outbox.showOne)
    table.inScope(ConsolePaths.messageText, performing: [.openMessage], outbox.open)
  }
}
