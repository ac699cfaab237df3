import HTTP
import Identity
import Templating

/// `/__/auth/not-me`: the page on which a user of an application says that something was none of
/// theirs, by the link in the mail that told of it.
///
/// Opening it changes nothing, since programs that look through mail open links too.
struct ReportedChangePage: Sendable {
  let reportedChanges: ReportedChanges
  let gate: Gate
  let frames: Frames
  let view: Template<ReportedChangeView>

  func show(_ visitor: Visitor) async throws(Refusal) -> Response {
    let query = visitor.request.target.query
    let code = query.text("code") ?? ""
    do throws(ReportedChangeError) {
      return page(visitor, .open(try await reportedChanges.look(at: code)), code: code)
    } catch {
      if case .used(let reportedChange) = error, query["done"] != nil {
        return page(visitor, .done(reportedChange), code: code)
      }
      return try ended(error, visitor, code: code)
    }
  }

  func object(_ visitor: Visitor) async throws(Refusal) -> Response {
    let code = visitor.form.text("code") ?? ""
    let author = Author(
      actor: .nobody, address: visitor.request.peer, requestID: visitor.request.id.text)
    do throws(ReportedChangeError) {
      try await reportedChanges.object(code, by: author)
    } catch {
      return try ended(error, visitor, code: code)
    }
    var query = Form()
    query.add("code", code)
    query.add("done", "1")
    return .redirect(to: query.query(of: ConsolePaths.reportedChange()))
  }

  private func ended(
    _ error: ReportedChangeError, _ visitor: Visitor, code: String
  ) throws(Refusal) -> Response {
    switch error {
    case .unknown: return page(visitor, .void, code: code)
    case .used(let reportedChange): return page(visitor, .used(reportedChange), code: code)
    case .expired(let reportedChange): return page(visitor, .late(reportedChange), code: code)
    case .unavailable: throw .unavailable(error)
    }
  }

  private func page(_ visitor: Visitor, _ state: ReportedChangeState, code: String) -> Response {
    let frame = frames.outside(
      state.title, path: ConsolePaths.reportedChange(), of: state.reportedChange?.scope)
    let model = ReportedChangeView(
      frame: FrameView(frame), csrf: visitor.formToken, state: state, code: code)
    var response = Response.html(view.render(model), status: state.status)
    gate.cookies.keep(visitor, in: &response)
    return response
  }
}

/// What somebody sees who follows a link to say that something was none of theirs.
enum ReportedChangeState {
  /// The link counts; a button does what it says.
  case open(ReportedChange)
  /// It was used just now.
  case done(ReportedChange)
  /// It was used before, or another one of the same account was.
  case used(ReportedChange)
  /// It came too late.
  case late(ReportedChange)
  /// It was never made, or the account is gone.
  case void

  var reportedChange: ReportedChange? {
    switch self {
    case .open(let reportedChange), .done(let reportedChange), .used(let reportedChange),
      .late(let reportedChange):
      reportedChange
    case .void: nil
    }
  }

  var status: Status {
    switch self {
    case .open, .done: .ok
    case .used, .late: .gone
    case .void: .notFound
    }
  }

  var title: String {
    switch self {
    case .open: "Was this not you?"
    case .done: "Your second factors are locked"
    case .used: "This link was used already"
    case .late: "This link came too late"
    case .void: "This link does not count"
    }
  }

  var sentence: String {
    switch self {
    case .open: ""
    case .done:
      "You are signed out everywhere, and nobody can change your second factors until it was looked into. Those who answer for the application are told. Somebody else may know your password: choose a new one in the application, by “forgot password”. Then tell its support what you know."
    case .used:
      "It was said already that a change was none of yours, and nobody can change your second factors until it was looked into, or that has happened since. If there is more to say, tell the support of the application."
    case .late:
      "It counted for seven days. If the change was not yours, tell the support of the application."
    case .void: "It may be cut off. If a change was not yours, tell the support of the application."
    }
  }
}

struct ReportedChangeView: ViewModel {
  let frame: FrameView
  let csrf: String
  let state: ReportedChangeState
  let code: String

  private var form: ReportedChangeForm? {
    guard case .open(let reportedChange) = state else { return nil }
    return ReportedChangeForm(frame: frame, csrf: csrf, reportedChange: reportedChange, code: code)
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("title") { $0.state.title },
    .text("sentence") { $0.state.sentence },
    .optional("form") { $0.form },
    .flag("isPlain") { $0.form == nil },
  ]
}

/// What happened, and the button.
struct ReportedChangeForm: ViewModel {
  let frame: FrameView
  let csrf: String
  let reportedChange: ReportedChange
  let code: String

  static let keys: Keys<Self> = [
    .text("action") { _ in ConsolePaths.reportedChange() },
    .text("csrf") { $0.csrf },
    .text("code") { $0.code },
    .text("application") { Words.short($0.reportedChange.scope.projectName) },
    .text("fact") { Words.short(Words.sentence($0.reportedChange.fact), 400) },
    .markup("at") { $0.frame.times.moment($0.reportedChange.at) },
    .markup("until") { $0.frame.times.moment($0.reportedChange.expiresAt) },
  ]
}
