import HTTP
import Identity

enum MessagesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let messages = MessagesPage(
      messages: identity.messages, accounts: identity.accounts, actions: parts.actions,
      list: try parts.template("messages/messages", for: MessagesView.self),
      one: try parts.template("messages/message", for: MessageView.self))
    table.inScope(.get, ConsolePaths.messages, .findUsers, messages.show)
    table.inScope(.get, ConsolePaths.message, .findUsers, messages.showOne)
    table.inScope(ConsolePaths.messageText, performing: [.openMessage], messages.open)
  }
}

extension ConsolePaths {
  static let messages = ScopePath0("messages")
  static let message = ScopePath1("messages", nil)
  static let messageText = ScopePath1("messages", nil, "text")
}
