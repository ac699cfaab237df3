import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/messages`: the messages to users and their delivery states, and the page of one message.
///
/// Owners can open the text of a message that no mail server delivers.
struct MessagesPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<MessagesView>
  let one: Template<MessageView>

  private var messages: OutboxEntries { identity.messages }

  func show(_ context: PoolContext) async throws -> Response {
    let query = MessagesQuery(context.signedIn.query)
    let page = try await messages.list(
      context.pool, query.filter, to: query.recipient.isEmpty ? nil : query.recipient,
      after: query.after, limit: query.size.rows)
    let path = ConsolePaths.messages(context.pool)
    if let first = context.signedIn.firstPage(of: path, insteadOf: page) { return first }
    try await frames.record(page.items.count, shownIn: context)
    let frame = try await frames.frame(Message("Messages"), in: context)
    return .html(
      view.render(
        MessagesView(
          frame: FrameView(frame), context: context, page: page, query: query,
          carriesMail: messages.carriesMail)))
  }

  func showOne(_ context: PoolContext, _ id: String) async throws -> Response {
    try await page(context, try await find(context, id), text: nil)
  }

  /// Opens the text and returns it in the response to the form.
  ///
  /// The text is never behind a `GET` address, so it can't be opened by accident or from history.
  func open(_ context: PoolContext, _ id: String) async throws -> Response {
    let (message, signedIn) = (try await find(context, id), context.signedIn)
    let outcome: ActionOutcome<MessageText>
    do {
      outcome = try await messages.open(
        context.pool, message.id, by: .console(actions.request(signedIn)))
    } catch OutboxError.notReadable {
      return frames.leave(
        Message("This text can no longer be opened."), for: signedIn,
        to: ConsolePaths.message(context.pool, id))
    } catch {
      let errors = try await actions.faults(error, .openMessage, signedIn) {
        (error: OutboxError) in throw error
      }
      return try await page(context, message, text: nil, errors: errors)
    }
    let page = try await page(context, message, text: outcome.value)
    return frames.renewing(outcome.renewed, in: page)
  }

  private func find(_ context: PoolContext, _ id: String) async throws -> OutboxEntry {
    guard let number = Int64(id) else { throw Refusal.notFound }
    return try await messages.find(context.pool, number)
  }

  private func user(
    of message: OutboxEntry, _ context: PoolContext
  ) async throws -> Account? {
    guard let id = message.account else { return nil }
    return try await identity.accounts.find(context.pool, id)
  }

  private func page(
    _ context: PoolContext, _ message: OutboxEntry, text: MessageText?,
    errors: [FieldError] = []
  ) async throws -> Response {
    let title = Message(
      "{purpose} · #{id} · Messages",
      [
        "purpose": .message(MessagesText.purpose(message)), "id": .text(String(message.id)),
      ])
    let view = FrameView(
      try await frames.frame(
        title, in: context,
        crumbs: [
          Link(text: Message("Messages"), href: ConsolePaths.messages(context.pool))
        ], errors: errors))
    let model = MessageView(
      frame: view, context: context, message: message,
      account: try await user(of: message, context), text: text,
      isReadable: messages.isReadable(message),
      fields: try await actions.fields(.openMessage, context.signedIn, view))
    return .html(one.render(model), errors: errors)
  }
}

struct MessagesQuery: Sendable {
  let filter: MessageFilter
  let recipient: String
  let size: PageSize
  let after: String?

  init(_ query: Form) {
    filter = query.text("show").flatMap(MessageFilter.init(rawValue:)) ?? .all
    recipient = query.trimmed("q")
    size = PageSize(query)
    after = query.text("after").flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the query without the position, with another filter if given.
  func form(_ other: MessageFilter? = nil) -> Form {
    var form = kept(other)
    if !recipient.isEmpty { form.add("q", recipient) }
    return form
  }

  func kept(_ other: MessageFilter? = nil) -> Form {
    var form = Form()
    let filter = other ?? filter
    if filter != .all { form.add("show", filter.rawValue) }
    return size.added(to: form)
  }
}

struct MessagesView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let page: Page<OutboxEntry>
  let query: MessagesQuery
  let carriesMail: Bool

  private var path: String { ConsolePaths.messages(context.pool) }

  private var tabs: [Link] {
    MessageFilter.allCases.map { filter in
      Link(
        text: MessagesText.name(filter), href: query.form(filter).query(of: path),
        isCurrent: filter == query.filter)
    }
  }

  private var search: FilterView {
    FilterView(
      action: path, label: Message("Exact email or phone number"), query: query.recipient,
      keeping: query.kept())
  }

  private var pager: PagerView? {
    guard !page.items.isEmpty else { return nil }
    return PagerView(
      shown: Message(
        one: "{count} message", other: "{count} messages", ["count": .number(page.items.count)]),
      path: path,
      query: query.form(), after: query.after, next: page.next)
  }

  private var empty: EmptyView? {
    guard page.items.isEmpty else { return nil }
    guard query.filter == .all, query.recipient.isEmpty else {
      return EmptyView(
        heading: Message("No matching messages"),
        sentence: Message("Messages are deleted 30 days after they expire."),
        link: Link(text: Message("Show all messages"), href: path))
    }
    return EmptyView(
      heading: Message("No messages"),
      sentence: Message(
        """
        Links and codes that users request, and notifications about account changes, appear here.
        """))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.context.pool.name },
    .flag(\.carriesMail),
    .text("roles") { _ in Message.value(Permission.readMessages.roleNames) },
    .list("tabs") { $0.tabs },
    .object("filter") { $0.search },
    .list("rows") { view in
      view.page.items.map {
        MessageRow(message: $0, pool: view.context.pool, times: view.frame.times)
      }
    },
    .optional("pager") { $0.pager },
    .optional("empty") { $0.empty },
  ]
}

struct MessageRow: ViewModel {
  let message: OutboxEntry
  let pool: Pool
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.message($0.pool, String($0.message.id)) },
    .text("recipient") { $0.message.recipient },
    .text("purpose") { MessagesText.purpose($0.message) },
    .markup("state") { MessagesText.chip($0.message) },
    .text("reason") { row in
      if case .sent = row.message.state { return nil }
      return row.message.lastError?.short
    },
    .markup("written") { $0.times.past($0.message.createdAt) },
  ]
}

struct MessageView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let message: OutboxEntry
  let account: Account?
  /// The text; nil until it's opened.
  let text: MessageText?
  let isReadable: Bool
  let fields: ActionFields

  private var pool: Pool { context.pool }

  private var accepted: Message {
    switch message.channel {
    case .mail: Message("Accepted by mail server")
    case .sms: Message("Accepted by SMS gateway")
    }
  }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [
      Fact(Message("To", context: "recipient"), HTML.isolated(message.recipient)),
      Fact(
        Message("Channel"),
        message.channel == .mail
          ? Message("email") : Message("text message")),
      Fact(Message("State"), MessagesText.chip(message)),
      Fact(Message("Created"), times.past(message.createdAt)),
    ]
    switch message.state {
    case .sent(let at):
      facts.append(Fact(accepted, times.past(at)))
    case .failed(let at): facts.append(Fact(Message("Failed"), times.past(at)))
    case .waiting, .expired, .withdrawn:
      facts.append(Fact(Message("Expires"), times.moment(message.expiresAt)))
    }
    if message.tries > 0 {
      facts.append(
        Fact(Message("Delivery attempts"), Message.value(.number(message.tries))))
    }
    if message.state == .waiting, message.tries > 0, let next = message.nextTryAt {
      facts.append(Fact(Message("Next attempt"), times.moment(next)))
    }
    switch message.lastError {
    case .response(let text)?:
      facts.append(Fact(Message("Last error"), HTML.isolated(text)))
    case let problem?: facts.append(Fact(Message("Last error"), problem.message))
    case nil: break
    }
    if let account = message.account {
      let view = Message("View user")
      let link: Markup = #"<a href="\#(ConsolePaths.user(pool, account.text))">\#(view)</a>"#
      facts.append(Fact(Message("End user"), link))
    }
    return facts
  }

  private var closed: Message {
    switch message.state {
    case .sent where message.channel == .sms:
      Message("The text was deleted when the SMS gateway accepted the message.")
    case .sent: Message("The text was deleted when the mail server accepted the message.")
    case .failed: Message("The text was deleted when delivery failed.")
    case .expired: Message("The text was deleted when the message expired.")
    case .withdrawn: Message("The text was deleted when a backup was restored.")
    case .waiting where !isReadable && message.channel == .sms:
      Message("The message is sent by SMS, so only the user can read its text.")
    case .waiting where !isReadable:
      Message("The message is sent by email, so only the user can read its text.")
    case .waiting:
      Message(
        """
        The text’s links and codes give access to the account. Opening it requires the \
        {roles} role.
        """, ["roles": Permission.readMessages.roleNames])
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("purpose") { MessagesText.purpose($0.message) },
    .text("recipient") { $0.message.recipient },
    .optional("user") { view in view.account.map { UserIdentity($0, in: view.pool) } },
    .list("facts") { $0.facts },
    .text("action") { view in
      view.isReadable && view.text == nil && view.context.may(.readMessages)
        ? ConsolePaths.messageText(view.pool, String(view.message.id)) : nil
    },
    .object("authorization") { $0.fields },
    .flag("isOpen") { $0.text != nil },
    .text("subject") { view in
      view.text.flatMap { $0.subject.isEmpty ? nil : $0.subject }
    },
    .text("body") { $0.text?.body },
    .text("closed") { view in
      view.text == nil && !(view.isReadable && view.context.may(.readMessages))
        ? view.closed : nil
    },
    .text("messages") { ConsolePaths.messages($0.pool) },
  ]
}

enum MessagesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let messages = MessagesPage(
      parts: parts, view: try parts.template("messages/messages"),
      one: try parts.template("messages/message"))
    table.inside(ConsolePaths.messages, .get(.findUsers, needs: .hosting), messages.show)
    table.inside(ConsolePaths.message, .get(.findUsers, needs: .hosting), messages.showOne)
    table.inside(ConsolePaths.messageText, .performing(.openMessage), messages.open)
  }
}

extension ConsolePaths {
  static let messages = PoolPath0("messages")
  static let message = PoolPath1("messages", nil)
  static let messageText = PoolPath1("messages", nil, "text")
}
