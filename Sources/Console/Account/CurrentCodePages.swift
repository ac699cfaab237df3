import Crypto
import HTTP
import Identity
import Templating

/// `/account/totp/removal`: removes the administrator's own second factor, if the role allows it.
struct OwnFactorRemovalPage: Sendable {
  let factors: AdministratorFactors
  let frames: Frames
  let view: Template<CurrentCodeView>

  func ask(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    guard isOpen(to: signedIn) else { return .redirect(to: ConsolePaths.account()) }
    return page(signedIn)
  }

  func remove(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    guard isOpen(to: signedIn) else { return .redirect(to: ConsolePaths.account()) }
    do {
      try await factors.withdraw(
        from: signedIn.administrator, currentCode: signedIn.form.trimmed("current-code"),
        keeping: signedIn.session.id, by: signedIn.author)
    } catch {
      let fault = try CurrentCode.fault(error, at: frames.clock.now())
      return page(signedIn, fault)
    }
    frames.leave(
      "Second factor removed. You now sign in with your password alone.", for: signedIn)
    return .redirect(to: ConsolePaths.account())
  }

  private func isOpen(to signedIn: SignedIn) -> Bool {
    signedIn.session.secondFactor == .enrolled && !signedIn.administrator.mustHaveSecondFactor
  }

  private func page(_ signedIn: SignedIn, _ fault: CurrentCode.Fault? = nil) -> Response {
    CurrentCode.page(
      signedIn, frames, view, fault, title: "Remove your second factor",
      action: ConsolePaths.ownFactorRemoval(),
      sentences: [
        "You’ll sign in with your password alone, and so can anyone else who knows it.",
        "Your recovery codes stop working, and your other sessions end.",
      ], button: "Remove second factor", isDestroying: true)
  }
}

/// `/account/recovery-codes`: generates ten recovery codes and shows them once.
struct RecoveryCodesPage: Sendable {
  let factors: AdministratorFactors
  let frames: Frames
  let view: Template<CurrentCodeView>
  let codes: Template<RecoveryCodesView>

  func ask(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    guard signedIn.session.secondFactor == .enrolled else {
      return .redirect(to: ConsolePaths.ownFactor())
    }
    return page(signedIn)
  }

  func make(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let made: [Secret]
    do {
      made = try await factors.makeRecoveryCodes(
        for: signedIn.administrator.id, currentCode: signedIn.form.trimmed("current-code"),
        by: signedIn.author)
    } catch {
      if case .noFactor = error { return .redirect(to: ConsolePaths.ownFactor()) }
      let fault = try CurrentCode.fault(error, at: frames.clock.now())
      return page(signedIn, fault)
    }
    let frame = frames.frame("Your recovery codes", for: signedIn, tab: nil)
    return .html(
      codes.render(
        RecoveryCodesView(
          frame: FrameView(frame), codes: made,
          sentence: "These are your new codes. Your previous codes no longer work.")))
  }

  private func page(_ signedIn: SignedIn, _ fault: CurrentCode.Fault? = nil) -> Response {
    CurrentCode.page(
      signedIn, frames, view, fault, title: "New recovery codes",
      action: ConsolePaths.recoveryCodes(),
      sentences: [
        "You’ll get \(AdministratorFactors.recoveryCodes) new codes. They’re shown only once.",
        "Your current codes stop working.",
      ], button: "Generate codes", isDestroying: false)
  }
}

/// The parts shared by pages that require a code from the current second factor.
enum CurrentCode {
  struct Fault {
    let text: String
    /// The number of seconds until the next attempt is allowed; nil if there's no wait.
    var seconds: Int64?
  }

  static let wrong =
    "Incorrect or already used code. Wait for the next code in your app, or use a recovery code."

  static func fault(
    _ error: AdministratorFactorError, at now: Instant
  ) throws(Refusal) -> Fault {
    switch error {
    case .wrongCurrentCode, .wrongCode, .wrongPassword, .ended, .noFactor:
      return Fault(text: wrong)
    case .mandatory: return Fault(text: "Your role requires a second factor.")
    case .throttled(let until):
      let (text, seconds) = CodeFault.throttled(until: until, at: now)
      return Fault(text: text, seconds: seconds)
    case .busy: throw .busy
    case .unavailable: throw .unavailable(error)
    }
  }

  static func page(
    _ signedIn: SignedIn, _ frames: Frames, _ view: Template<CurrentCodeView>, _ fault: Fault?,
    title: String, action: String, sentences: [String], button: String, isDestroying: Bool
  ) -> Response {
    var frame = frames.frame("\(title) · Your account", for: signedIn, tab: nil)
    if let fault { frame.errors = [FieldError(field: "current-code", text: fault.text)] }
    frame.crumbs = [Link(text: "Your account", href: ConsolePaths.account())]
    let model = CurrentCodeView(
      frame: FrameView(frame), csrf: signedIn.session.csrfToken, title: title, action: action,
      sentences: sentences, button: button, isDestroying: isDestroying)
    let status: Status =
      fault == nil ? .ok : fault?.seconds == nil ? .unprocessableContent : .tooManyRequests
    var response = Response.html(view.render(model), status: status)
    if let seconds = fault?.seconds { response.fields[.retryAfter] = String(seconds) }
    return response
  }
}

struct CurrentCodeView: ViewModel {
  let frame: FrameView
  let csrf: String
  let title: String
  let action: String
  let sentences: [String]
  let button: String
  let isDestroying: Bool

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("csrf") { $0.csrf },
    .text("heading") { $0.title },
    .text("action") { $0.action },
    .text("cancel") { _ in ConsolePaths.account() },
    .texts("sentences") { $0.sentences },
    .text("button") { $0.button },
    .text("buttonStyle") { $0.isDestroying ? "destroy" : "primary" },
    .text("currentError") { $0.frame.error(at: "current-code") },
  ]
}

struct RecoveryCodesView: ViewModel {
  let frame: FrameView
  let codes: [Secret]
  let sentence: String
  var done = ConsolePaths.account()

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("sentence") { $0.sentence },
    .text("codes") { $0.codes.map(\.revealedText).joined(separator: "\n") },
    .text("done") { $0.done },
  ]
}
