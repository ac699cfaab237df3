import HTTP
import Identity
import Templating

/// What else the desk knows of a user: what can come back, sessions, messages, notes.
struct UserSupport: ViewModel {
  let account: Account
  let apart: [RemovalHold]
  let sessions: [OpenSession]
  let messages: [OutboxEntry]
  let notes: [UserNote]
  let context: ScopeContext
  /// Whether whoever looks may act on the user's factors.
  let mayAct: Bool
  let times: Times

  /// True for those who write notes and take them back: protection keeps nobody from that.
  private var mayWrite: Bool {
    context.may(.removeFactors) && !account.hasOnFile(context.signedIn.administrator.email)
  }
  private var scope: Scope { context.scope }

  static let keys: Keys<Self> = [
    .flag("hasApart") { !$0.apart.isEmpty },
    .list("apart") { support in
      support.apart.map {
        RemovedFactorRow($0, support.account, support.context, mayAct: support.mayAct)
      }
    },
    .flag("hasSessions") { !$0.sessions.isEmpty },
    .list("sessions") { support in
      support.sessions.map {
        UserSessionRow(session: $0, factors: support.account.factors, support.times)
      }
    },
    .text("moreSessions") { support in
      support.sessions.count < Sessions.mostListed
        ? nil : "The newest \(Sessions.mostListed) are shown."
    },
    .flag("hasMessages") { !$0.messages.isEmpty },
    .list("messages") { support in
      support.messages.map {
        UserMessageRow(message: $0, scope: support.scope, times: support.times)
      }
    },
    .flag("hasNotes") { !$0.notes.isEmpty },
    .list("notes") { support in
      let mayWrite = support.mayWrite
      return support.notes.map { note in
        NoteRow(
          note: note,
          removal: mayWrite
            ? ConsolePaths.noteRemoval(support.scope, support.account.id.text, String(note.id))
            : nil,
          times: support.times)
      }
    },
    .text("newNote") {
      $0.mayWrite ? ConsolePaths.newNote($0.scope, $0.account.id.text) : nil
    },
  ]
}

/// Factors that one removal took and that can come back.
struct RemovedFactorRow: ViewModel {
  let apart: RemovalHold
  /// Where they are restored; nil for those who may not.
  let undo: String?
  /// The page with the link for a colleague; nil for those who restore them themselves or may not.
  let ask: String?
  /// Where they are purged before their time; nil for those who may not.
  let purge: String?
  /// Why this administrator may not restore them, though their role would allow it.
  let why: String?
  let times: Times

  init(_ apart: RemovalHold, _ account: Account, _ context: ScopeContext, mayAct: Bool) {
    self.apart = apart
    times = context.signedIn.times
    let isOwn = apart.remover == context.signedIn.administrator.id
    let (scope, uid, removal) = (context.scope, account.id.text, apart.id.text)
    undo = mayAct && !isOwn ? ConsolePaths.undo(scope, uid, removal) : nil
    purge = mayAct ? ConsolePaths.purge(scope, uid, removal) : nil
    ask = mayAct && isOwn ? ConsolePaths.undo(scope, uid, removal) : nil
    why = mayAct && isOwn ? "You removed it: another administrator can restore it." : nil
  }

  static let keys: Keys<Self> = [
    .text("names") { row in
      row.apart.factors.map { Words.short($0.label, 60) }.joined(separator: ", ")
    },
    .text("who") { $0.apart.removerName },
    .markup("removed") { $0.times.past($0.apart.removedAt) },
    .markup("until") { $0.times.moment($0.apart.until) },
    .text("undo") { $0.undo },
    .text("ask") { $0.ask },
    .text("purge") { $0.purge },
    .text("why") { $0.why },
  ]
}

struct UserSessionRow: ViewModel {
  let session: OpenSession
  let factors: [Factor]
  let times: Times

  init(session: OpenSession, factors: [Factor], _ times: Times) {
    self.session = session
    self.factors = factors
    self.times = times
  }

  /// How it was begun: the first factor, and the device of the second one where it is known.
  private var way: Markup {
    var html = HTML()
    html.text(session.provider == .password ? "Password" : session.provider.rawValue)
    guard let id = session.factor else { return html.markup }
    html.raw(" and ")
    if let factor = factors.first(where: { $0.id == id }) {
      html.name(factor.label)
    } else {
      html.raw("a factor that is gone")
    }
    return html.markup
  }

  static let keys: Keys<Self> = [
    .markup("way") { $0.way },
    .markup("started") { $0.times.past($0.session.startedAt) },
    .markup("refreshed") { $0.session.lastRefreshAt.map($0.times.past) ?? AccountChips.never },
  ]
}

struct UserMessageRow: ViewModel {
  let message: OutboxEntry
  let scope: Scope
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.message($0.scope, String($0.message.id)) },
    .text("purpose") { OutboxWords.purpose($0.message) },
    .text("recipient") { $0.message.recipient },
    .markup("state") { OutboxWords.chip($0.message) },
    .markup("written") { $0.times.past($0.message.createdAt) },
    .markup("until") { $0.times.moment($0.message.expiresAt) },
  ]
}

struct NoteRow: ViewModel {
  let note: UserNote
  /// Where it is taken back; nil for those who may not.
  let removal: String?
  let times: Times

  static let keys: Keys<Self> = [
    .text("text") { $0.note.text },
    .text("who") { $0.note.author },
    .markup("at") { $0.times.moment($0.note.writtenAt) },
    .text("removal") { $0.removal },
  ]
}
