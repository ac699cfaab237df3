import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/temporary-code`: generates a temporary code for a user, which the next page shows
/// once.
struct CreateTemporaryCode: UserAction {
  static let action = ConsoleAction.createTemporaryCode
  static let name = Message("Generate temporary code")
  static let path = PoolPath1("users", nil, "temporary-code")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .atHome }

  static func label(_ offer: UserOffer) -> Message { Message("Temporary code…") }

  static func isOffered(_ offer: UserOffer) -> Bool {
    offer.records.rules.temporaryCodeDenial(for: offer.account) == nil
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, state) = try await identity.accountWithCodes(target)
    let settings = try await identity.support.settings(target.pool)
    var page = FormPage(
      account, in: target.pool, title: Message("Temporary code"),
      heading: Message(
        "Generate a temporary code for {user}?", ["user": account.shortLabel]),
      consequences: consequences(account, state, target.times),
      button: Message("Generate code"), isDestructive: false)
    page.caution = Notice(lockOf: account, at: identity.clock.now(), in: target.place)
    page.notifies = true
    page.fields = [
      .menu(
        "hours", Message("Valid for"),
        BackupCodes.hours.map { Field.Option(value: String($0), label: Formatted.hours($0)) },
        value: String(BackupCodes.hours[0]))
    ]
    page.refusal = settings.temporaryCodeDenial(for: account).map {
      ActionErrorText.sentence($0)
    }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.backupCodes.makeTemporaryCode(
      target.request, for: target.user, in: target.pool,
      hours: Int(target.form.trimmed("hours")) ?? 0)
    try await identity.consoleStorage.keep(
      done.value, of: target.user, in: target.pool,
      for: done.renewed?.session ?? target.signedIn.session)
    return FormEnd(nil, at: ConsolePaths.shownCode(target.pool, target.uid), after: done)
  }

  private func consequences(
    _ account: Account, _ state: BackupCodeState, _ times: Times
  ) -> [Message] {
    [
      Message(
        """
        The user can sign in once with this code instead of an authenticator code. Their password \
        is still required.
        """),
      Message(
        """
        The code is shown once, for you to read to the caller. Anyone else who hears it also \
        needs the user’s password.
        """),
      state.temporaryUntil.map {
        Message(
          "The existing temporary code, valid until {time}, is revoked.", ["time": times.value($0)])
      },
    ].compactMap { $0 }
  }
}

/// `S/users/{uid}/temporary-code/shown`: shows a generated temporary code once.
struct TemporaryCodePage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<TemporaryCodeView>

  func show(_ context: PoolContext, _ uid: String) async throws -> Response {
    let pool = context.pool
    let address = CreateTemporaryCode.path(pool, uid)
    let account = try await identity.account(uid, in: context)
    var code: TemporaryCode?
    if context.signedIn.request.method == .get {
      code = try await identity.consoleStorage.takeCode(
        of: account.id, in: pool, for: context.signedIn.session)
    }
    let title = Message(
      "Temporary code · {user} · Users", ["user": .name(Formatted.short(account.label))])
    let frame = try await frames.frame(
      title, in: context, crumbs: Link.crumbs(to: account, in: pool))
    let model = TemporaryCodeView(
      frame: FrameView(frame), account: account, user: UserIdentity(account, in: pool), code: code,
      caution: Notice(lockOf: account, at: identity.clock.now(), in: context),
      back: ConsolePaths.user(pool, uid), again: address)
    return .html(view.render(model))
  }
}

struct TemporaryCodeView: ViewModel {
  let frame: FrameView
  let account: Account
  let user: UserIdentity
  /// The code; nil if it was already shown.
  let code: TemporaryCode?
  let caution: Notice?
  let back: String
  let again: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object(\.user),
    .text("userName") { Formatted.short($0.account.label) },
    .optional("code") { view in
      view.code.map {
        ShownCode(
          code: $0, caution: view.caution, back: view.back, times: view.frame.times)
      }
    },
    .text(\.back),
    .text(\.again),
  ]
}

struct ShownCode: ViewModel {
  let code: TemporaryCode
  let caution: Notice?
  let back: String
  let times: Times

  static let keys: Keys<Self> = [
    .text("text") { $0.code.code.revealedText },
    .optional(\.caution),
    .list("groups") { SpelledGroup.groups($0.code.code.revealedText) },
    .markup("until") { $0.times.moment($0.code.expiresAt) },
    .text(\.back),
  ]
}

/// The NATO phonetic alphabet, for reading codes aloud on the phone.
enum SpellingAlphabet {
  private static let letters = [
    Message("Alfa"),
    Message("Bravo"),
    Message("Charlie"),
    Message("Delta"),
    Message("Echo"),
    Message("Foxtrot"),
    Message("Golf"),
    Message("Hotel"),
    Message("India"),
    Message("Juliett"),
    Message("Kilo"),
    Message("Lima"),
    Message("Mike"),
    Message("November"),
    Message("Oscar"),
    Message("Papa"),
    Message("Quebec"),
    Message("Romeo"),
    Message("Sierra"),
    Message("Tango"),
    Message("Uniform"),
    Message("Victor"),
    Message("Whiskey"),
    Message("X-ray"),
    Message("Yankee"),
    Message("Zulu"),
  ]
  private static let digits = [
    Message("zero"),
    Message("one"),
    Message("two"),
    Message("three"),
    Message("four"),
    Message("five"),
    Message("six"),
    Message("seven"),
    Message("eight"),
    Message("nine"),
  ]

  static func word(_ character: Character) -> Message {
    switch character.asciiValue {
    case let byte? where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte):
      letters[Int(byte - UInt8(ascii: "A"))]
    case let byte? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte):
      digits[Int(byte - UInt8(ascii: "0"))]
    default: .verbatim("")
    }
  }
}

struct SpelledLetter: ViewModel {
  let letter: Character

  static let keys: Keys<Self> = [
    .text("letter") { String($0.letter) },
    .text("word") { SpellingAlphabet.word($0.letter) },
  ]
}

struct SpelledGroup: ViewModel {
  let letters: [SpelledLetter]

  /// Returns the groups of a code, which are separated by hyphens.
  static func groups(_ code: String) -> [SpelledGroup] {
    code.split(separator: "-").map { part in
      SpelledGroup(letters: part.map { SpelledLetter(letter: $0) })
    }
  }

  static let keys: Keys<Self> = [.list("letters") { $0.letters }]
}

/// `S/users/{uid}/temporary-code/removal`: revokes a user's temporary code.
struct RevokeTemporaryCode: UserAction {
  static let action = ConsoleAction.revokeTemporaryCode
  static let name = Message("Revoke temporary code")
  static let path = PoolPath1("users", nil, "temporary-code", "removal")
  static let isDestructive = true
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message { Message("Revoke temporary code…") }

  static func isOffered(_ offer: UserOffer) -> Bool {
    offer.records.backupCodes.temporaryUntil != nil
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (account, state) = try await identity.accountWithCodes(target)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "Revoke the temporary code for {user}?",
        ["user": account.shortLabel]),
      consequences: [Message("The code can no longer be used to sign in.")],
      button: Message("Revoke code"))
    page.notifies = true
    if state.temporaryMadeAt == nil { page.refusal = ActionErrorText.sentence(.noCodes) }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.backupCodes.endTemporaryCode(
      target.request, of: target.user, in: target.pool)
    return FormEnd(Message("Temporary code revoked."), at: target.userPage, after: done)
  }
}

extension Identity {
  func accountWithCodes(_ target: PoolTarget) async throws -> (Account, BackupCodeState) {
    let account = try await account(target)
    let state = try await backupCodes.state(of: account, in: target.pool)
    return (account, state)
  }
}
