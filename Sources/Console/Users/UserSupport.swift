import HTTP
import Identity
import Localization
import Templating

/// The support data of a user: recently removed factors, sessions, messages, and notes.
struct UserSupport: ViewModel {
  let account: Account
  let holds: [RemovalHold]
  let sessions: [OpenSession]
  let messages: [OutboxEntry]
  let notes: [UserNote]
  let context: ScopeContext
  /// Whether the administrator can act on the user's factors.
  let mayAct: Bool
  let times: Times

  /// Whether the administrator can add and delete notes; protection doesn't prevent that.
  private var mayWrite: Bool {
    context.may(.removeFactors) && !account.hasOnFile(context.signedIn.administrator.email)
  }
  private var scope: Scope { context.scope }

  static let keys: Keys<Self> = [
    .flag("hasHolds") { !$0.holds.isEmpty },
    .list("holds") { support in
      support.holds.map {
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
        ? nil : Message("users.showing-newest", ["count": .number(Sessions.mostListed)])
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

/// The factors of one removal that can be restored.
struct RemovedFactorRow: ViewModel {
  let hold: RemovalHold
  /// The address to restore them; nil if the administrator can't.
  let undo: String?
  /// The address to ask another administrator; nil unless the administrator removed them.
  let ask: String?
  /// The address to delete them permanently; nil without the permission.
  let purge: String?
  /// Why this administrator can't restore them despite having the permission; nil otherwise.
  let why: Message?
  let times: Times

  init(_ hold: RemovalHold, _ account: Account, _ context: ScopeContext, mayAct: Bool) {
    self.hold = hold
    times = context.signedIn.times
    let isOwn = hold.remover == context.signedIn.administrator.id
    let (scope, uid, removal) = (context.scope, account.id.text, hold.id.text)
    undo = mayAct && !isOwn ? ConsolePaths.undo(scope, uid, removal) : nil
    purge = mayAct ? ConsolePaths.purge(scope, uid, removal) : nil
    ask = mayAct && isOwn ? ConsolePaths.undo(scope, uid, removal) : nil
    why = mayAct && isOwn ? Message("users.removed-by-you") : nil
  }

  static let keys: Keys<Self> = [
    .text("names") { row in
      Message.value(.sequence(row.hold.factors.map { .verbatim(Words.short($0.label, 60)) }))
    },
    .text("who") { $0.hold.removerName },
    .markup("removed") { $0.times.past($0.hold.removedAt) },
    .markup("until") { $0.times.moment($0.hold.until) },
    .text(\.undo),
    .text(\.ask),
    .text(\.purge),
    .text(\.why),
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

  /// The sign-in method, and the name of the second factor if one was used.
  private var way: Markup {
    let first: Message =
      session.provider == .password
      ? Message("common.password") : .verbatim(session.provider.rawValue)
    guard let id = session.factor else { return Markup(escaping: first) }
    guard let factor = factors.first(where: { $0.id == id }) else {
      return Markup(html: Message("users.way-and-removed-factor", ["way": .message(first)]))
    }
    return Markup(
      html: Message(
        "users.way-and-factor",
        ["way": .message(first), "factor": FactorWords.name(factor)]))
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
  /// The address to delete the note; nil without the permission.
  let removal: String?
  let times: Times

  static let keys: Keys<Self> = [
    .text("text") { $0.note.text },
    .text("who") { $0.note.author },
    .markup("at") { $0.times.moment($0.note.writtenAt) },
    .text(\.removal),
  ]
}
