import HTTP
import Identity
import Localization
import Templating

/// `S/messages`: the messages to users and their delivery states, and the page of one message.
///
/// Owners can open the text of a message that no mail server delivers.
struct MessagesPage: Sendable {
  let messages: OutboxEntries
  let accounts: Accounts
  let actions: ActionForms
  let list: Template<MessagesView>
  let one: Template<MessageView>

  private var frames: Frames { actions.frames }

  func show(_ context: PoolContext) async throws -> Response {
    let query = MessagesQuery(context.signedIn.query)
    let page = try await messages.list(
      context.pool, query.filter, to: query.recipient.isEmpty ? nil : query.recipient,
      after: query.after, limit: query.size.rows)
    let path = ConsolePaths.messages(context.pool)
    if let first = context.signedIn.firstPage(of: path, insteadOf: page) { return first }
    let frame = try await frames.frame(Message("Messages"), in: context)
    return .html(
      list.render(
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
      outcome = try await messages.open(context.pool, message.id, actions.request(signedIn))
    } catch OutboxError.notReadable {
      frames.leave(Message("This text can no longer be opened."), for: signedIn)
      return .redirect(to: ConsolePaths.message(context.pool, id))
    } catch {
      let errors = try await actions.faults(error, .openMessage, signedIn) {
        (error: OutboxError) in
        guard case .notFound = error else { throw error }
        throw Refusal.notFound
      }
      return try await page(context, message, text: nil, errors: errors)
    }
    let page = try await page(context, message, text: outcome.value)
    return actions.page(page, after: outcome)
  }

  private func find(_ context: PoolContext, _ id: String) async throws -> OutboxEntry {
    guard let number = Int64(id) else { throw Refusal.notFound }
    do {
      return try await messages.find(context.pool, number)
    } catch let error as OutboxError {
      guard case .notFound = error else { throw error }
      throw Refusal.notFound
    }
  }

  private func user(
    of message: OutboxEntry, _ context: PoolContext
  ) async throws -> Account? {
    guard let id = message.account else { return nil }
    return try await accounts.find(context.pool, id)
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
    var frame = try await frames.frame(title, in: context)
    frame.crumbs = [
      Link(text: Message("Messages"), href: ConsolePaths.messages(context.pool))
    ]
    frame.errors = errors
    let view = FrameView(frame)
    let model = MessageView(
      frame: view, context: context, message: message,
      account: try await user(of: message, context), text: text,
      isReadable: messages.isReadable(message),
      fields: try await actions.fields(.openMessage, context.signedIn, view))
    return .html(one.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
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
