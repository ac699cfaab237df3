import HTTP
import Identity

enum MessagesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let messages = MessagesPage(
      messages: identity.messages, accounts: identity.accounts, actions: parts.actions,
      list: try parts.template("messages/messages", for: MessagesView.self),
      one: try parts.template("messages/message", for: MessageView.self))
    table.inPool(.get, ConsolePaths.messages, .findUsers, messages.show)
    table.inPool(.get, ConsolePaths.message, .findUsers, messages.showOne)
    table.inPool(ConsolePaths.messageText, performing: [.openMessage], messages.open)
  }
}

extension ConsolePaths {
  static let messages = PoolPath0("messages")
  static let message = PoolPath1("messages", nil)
  static let messageText = PoolPath1("messages", nil, "text")
}
