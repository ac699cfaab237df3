import HTTP
import Identity
import Localization
import Templating
import Text

struct MessagesView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let page: Page<OutboxEntry>
  let query: MessagesQuery
  let carriesMail: Bool

  private var path: String { ConsolePaths.messages(context.scope) }

  private var tabs: [Link] {
    MessageFilter.allCases.map { filter in
      Link(
        text: MessagesText.name(filter), href: query.form(filter).query(of: path),
        isCurrent: filter == query.filter)
    }
  }

  private var search: FilterView {
    FilterView(
      action: path, label: Message("messages.exact-recipient"), query: query.recipient,
      keeping: query.kept())
  }

  private var pager: PagerView? {
    guard !page.items.isEmpty else { return nil }
    return PagerView(
      shown: Message("messages.n-messages", ["count": .number(page.items.count)]), path: path,
      query: query.form(), after: query.after, next: page.next)
  }

  private var empty: EmptyView? {
    guard page.items.isEmpty else { return nil }
    guard query.filter == .all, query.recipient.isEmpty else {
      return EmptyView(
        heading: Message("messages.not-found"), sentence: Message("messages.not-found-hint"),
        link: EmptyLink(text: Message("messages.show-all"), href: path))
    }
    return EmptyView(
      heading: Message("messages.empty"), sentence: Message("messages.empty-hint"))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("scopeName") { $0.context.scope.name },
    .flag(\.carriesMail),
    .text("holder") { _ in Permission.readMessages.holder },
    .list("tabs") { $0.tabs },
    .object("filter") { $0.search },
    .flag("hasRows") { !$0.page.items.isEmpty },
    .list("rows") { view in
      view.page.items.map {
        MessageRow(message: $0, scope: view.context.scope, times: view.frame.times)
      }
    },
    .optional("pager") { $0.pager },
    .optional("empty") { $0.empty },
  ]
}

struct MessageRow: ViewModel {
  let message: OutboxEntry
  let scope: Scope
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.message($0.scope, String($0.message.id)) },
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
  let context: ScopeContext
  let message: OutboxEntry
  let account: Account?
  /// The text; nil until it's opened.
  let text: MessageText?
  let isReadable: Bool
  let fields: ActionFields

  private var scope: Scope { context.scope }

  private var accepted: Message {
    switch message.channel {
    case .mail: Message("messages.accepted-by-mail-server")
    case .sms: Message("messages.accepted-by-sms-gateway")
    }
  }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [
      Fact(Message("messages.to"), HTML.isolated(message.recipient)),
      Fact(
        Message("messages.channel"),
        message.channel == .mail
          ? Message("messages.channel-email") : Message("messages.channel-text-message")),
      Fact(Message("common.state"), MessagesText.chip(message)),
      Fact(Message("common.created"), times.past(message.createdAt)),
    ]
    switch message.state {
    case .sent(let at):
      facts.append(Fact(accepted, times.past(at)))
    case .failed(let at): facts.append(Fact(Message("messages.failed-at"), times.past(at)))
    case .waiting, .expired, .withdrawn:
      facts.append(Fact(Message("messages.expires"), times.moment(message.expiresAt)))
    }
    if message.tries > 0 {
      facts.append(
        Fact(Message("messages.delivery-attempts"), Message.value(.number(message.tries))))
    }
    if message.state == .waiting, message.tries > 0, let next = message.nextTryAt {
      facts.append(Fact(Message("messages.next-attempt"), times.moment(next)))
    }
    switch message.lastError {
    case .response(let text)?:
      facts.append(Fact(Message("messages.last-error"), HTML.isolated(text)))
    case let problem?: facts.append(Fact(Message("messages.last-error"), problem.message))
    case nil: break
    }
    if let account = message.account {
      var link = HTML()
      link.raw("<a href=\"")
      link.text(ConsolePaths.user(scope, account.text))
      link.raw("\">")
      link.message(Message("messages.view-user"))
      link.raw("</a>")
      facts.append(Fact(Message("messages.end-user"), link.markup))
    }
    return facts
  }

  private var closed: Message {
    switch message.state {
    case .sent where message.channel == .sms: Message("messages.text-of-sent-sms")
    case .sent: Message("messages.text-of-sent")
    case .failed: Message("messages.text-of-failed")
    case .expired: Message("messages.text-of-expired")
    case .withdrawn: Message("messages.text-of-withdrawn")
    case .waiting where !isReadable && message.channel == .sms:
      Message("messages.text-only-for-user-of-sms")
    case .waiting where !isReadable: Message("messages.text-only-for-user")
    case .waiting:
      Message(
        "messages.text-only-for-holders", ["holders": .message(Permission.readMessages.holders)])
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("purpose") { MessagesText.purpose($0.message) },
    .text("recipient") { $0.message.recipient },
    .optional("user") { view in view.account.map { UserIdentity($0, in: view.scope) } },
    .list("facts") { $0.facts },
    .text("action") { view in
      view.isReadable && view.text == nil && view.context.may(.readMessages)
        ? ConsolePaths.messageText(view.scope, String(view.message.id)) : nil
    },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
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
    .text("messages") { ConsolePaths.messages($0.scope) },
  ]
}
