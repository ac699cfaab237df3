import Crypto
import HTTP
import Identity
import Localization
import OTP
import Templating

/// `/account/totp/removal`: removes the administrator's own second factor, if the role allows it.
struct OwnFactorRemovalPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<CurrentCodeView>

  private var factors: AdministratorFactors { identity.administratorFactors }

  func ask(_ signedIn: SignedIn) async throws -> Response {
    guard isOpen(to: signedIn) else { return .redirect(to: ConsolePaths.account()) }
    return await page(signedIn, try await factors.proof(in: signedIn.session))
  }

  func remove(_ signedIn: SignedIn) async throws -> Response {
    guard isOpen(to: signedIn) else { return .redirect(to: ConsolePaths.account()) }
    let proof = try await factors.proof(in: signedIn.session)
    guard proof != .passkey else { return .redirect(to: signedIn.factorReauthentication) }
    guard let code = CurrentCode.given(signedIn, proof) else {
      return await page(signedIn, proof, CurrentCode.missing)
    }
    do {
      try await factors.withdraw(
        from: signedIn.administrator, currentCode: code,
        in: signedIn.session, by: signedIn.author)
    } catch let error as AdministratorFactorError {
      let fault = try CurrentCode.fault(error, at: frames.clock.now())
      return await page(signedIn, proof, fault)
    }
    return frames.leave(
      signedIn.session.factors.contains(.passkey)
        ? Message("Authenticator app removed. You sign in with your passkeys.")
        : Message("Second factor removed. You now sign in without a code."),
      for: signedIn, to: ConsolePaths.account())
  }

  private func isOpen(to signedIn: SignedIn) -> Bool {
    let factors = signedIn.session.factors
    return factors.contains(.totp)
      && (factors.contains(.passkey) || !signedIn.session.mustHaveSecondFactor)
  }

  private func page(
    _ signedIn: SignedIn, _ proof: ReauthenticationMethod?, _ fault: FieldError? = nil
  ) async -> Response {
    await CurrentCode.page(
      signedIn, proof, frames, view, fault, title: Message("Remove your second factor"),
      action: ConsolePaths.ownFactorRemoval(),
      sentences: [
        signedIn.session.factors.contains(.passkey)
          ? Message("You can still sign in with your passkeys.")
          : Message("You’ll sign in with one factor, and so can anyone else who has it."),
        signedIn.session.factors.contains(.passkey)
          ? Message("Your other sessions end.")
          : Message("Your recovery codes stop working, and your other sessions end."),
      ], button: Message("Remove second factor"), isDestroying: true)
  }
}

/// `/account/recovery-codes`: generates ten recovery codes and shows them once.
struct RecoveryCodesPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<CurrentCodeView>
  let codes: Template<RecoveryCodesView>

  private var factors: AdministratorFactors { identity.administratorFactors }

  func ask(_ signedIn: SignedIn) async throws -> Response {
    guard !signedIn.session.factors.isEmpty else {
      return .redirect(to: ConsolePaths.ownFactor())
    }
    let proof = try await factors.proof(in: signedIn.session)
    guard proof != .passkey else { return .redirect(to: signedIn.factorReauthentication) }
    return await page(signedIn, proof, try await codeSet(signedIn))
  }

  func make(_ signedIn: SignedIn) async throws -> Response {
    let current = try await codeSet(signedIn)
    if let replaced = signedIn.form.text("codes"), replaced != current {
      // The page with the codes, reloaded: other codes would make those on paper useless.
      return frames.leave(
        Message(
          """
          Your recovery codes were already generated. They’re shown only once: generate new ones if \
          you don’t have them.
          """), for: signedIn, to: ConsolePaths.account())
    }
    let proof = try await factors.proof(in: signedIn.session)
    guard proof != .passkey else { return .redirect(to: signedIn.factorReauthentication) }
    guard let code = CurrentCode.given(signedIn, proof) else {
      return await page(signedIn, proof, current, CurrentCode.missing)
    }
    let newCodes: [Secret]
    do {
      newCodes = try await factors.makeRecoveryCodes(
        for: signedIn.administrator.id, currentCode: code,
        in: signedIn.session, by: signedIn.author)
    } catch let error as AdministratorFactorError {
      if case .noFactor = error { return .redirect(to: ConsolePaths.ownFactor()) }
      let fault = try CurrentCode.fault(error, at: frames.clock.now())
      return await page(signedIn, proof, current, fault)
    }
    var frame = await frames.frame(Message("Your recovery codes"), for: signedIn)
    frame.flash = Flash(
      text: Message("These are your new codes. Your previous codes no longer work."))
    return .html(codes.render(RecoveryCodesView(frame: FrameView(frame), codes: newCodes)))
  }

  private func codeSet(_ signedIn: SignedIn) async throws -> String {
    try await factors.recoveryCodeSet(of: signedIn.administrator.id)
  }

  private func page(
    _ signedIn: SignedIn, _ proof: ReauthenticationMethod?, _ codeSet: String,
    _ fault: FieldError? = nil
  ) async -> Response {
    await CurrentCode.page(
      signedIn, proof, frames, view, fault, title: Message("New recovery codes"),
      codes: codeSet,
      action: ConsolePaths.recoveryCodes(),
      sentences: [
        Message(
          one: "You’ll get {count} new code. It’s shown only once.",
          other: "You’ll get {count} new codes. They’re shown only once.",
          ["count": .number(AdministratorFactors.recoveryCodes)]),
        Message("Your current codes stop working."),
      ], button: Message("Generate codes"), isDestroying: false)
  }
}

enum CurrentCode {
  static let wrong = Message(
    "Incorrect or already used code. Wait for the next code in your app, or use a recovery code.")
  static let missing = error(Message("Enter a code from your current authenticator."))

  private static func error(_ text: Message) -> FieldError {
    FieldError(field: "current-code", text: text)
  }

  /// Returns the code of the form; nil if it's empty, though one is required.
  static func given(_ signedIn: SignedIn, _ proof: ReauthenticationMethod?) -> TypedCode? {
    let code = signedIn.form.code("current-code")
    return code.isEmpty && proof == .totp ? nil : code
  }

  static func fault(
    _ error: AdministratorFactorError, at now: Instant
  ) throws -> FieldError {
    switch error {
    case .wrongCurrentCode, .wrongCode, .wrongPassword, .ended, .noFactor, .passkeyRequired:
      return self.error(wrong)
    case .sessionEnded: throw Refusal.sessionEnded
    case .usedCurrentCode: return self.error(CodeFault.used)
    case .mandatory: return self.error(Message("Your role requires a second factor."))
    case .throttled(let until):
      return CodeFault.tooManyCodes(in: "current-code", until: until, at: now)
    }
  }

  static func page(
    _ signedIn: SignedIn, _ proof: ReauthenticationMethod?, _ frames: Frames,
    _ view: Template<CurrentCodeView>, _ fault: FieldError?, title: Message, codes: String? = nil,
    action: String,
    sentences: [Message], button: Message, isDestroying: Bool
  ) async -> Response {
    let errors = [fault].compactMap(\.self)
    let frame = await frames.account(title, signedIn, errors: errors)
    let model = CurrentCodeView(
      frame: FrameView(frame), title: title,
      asksForCode: proof == .totp, codes: codes, action: action,
      sentences: sentences, button: button, isDestroying: isDestroying)
    return .html(view.render(model), errors: errors)
  }
}

struct CurrentCodeView: ViewModel {
  let frame: FrameView
  let title: Message
  let asksForCode: Bool
  /// The recovery codes that the form replaces; nil if it replaces none.
  let codes: String?
  let action: String
  let sentences: [Message]
  let button: Message
  let isDestroying: Bool

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("heading") { $0.title },
    .flag(\.asksForCode),
    .text(\.codes),
    .text("passkey") { $0.frame.passkeyReauthentication },
    .text(\.action),
    .text("cancel") { _ in ConsolePaths.account() },
    .texts("sentences") { $0.sentences },
    .text(\.button),
    .text("buttonStyle") { $0.isDestroying ? "destroy" : "primary" },
    .text("currentError") { $0.frame.error(at: "current-code") },
  ]
}

struct RecoveryCodesView: ViewModel {
  let frame: FrameView
  let codes: [Secret]
  var done = ConsolePaths.account()

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("codes") { $0.codes.map(\.revealedText).joined(separator: "\n") },
    .text(\.done),
  ]
}
