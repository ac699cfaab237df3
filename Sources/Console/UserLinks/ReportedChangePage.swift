import HTTP
import Identity
import Localization
import MailText
import Templating

/// `/__/auth/not-me`: the page on which a user reports a change they didn't make, opened by the
/// link in the notification email.
///
/// Opening the page changes nothing, because email scanners open links too.
struct ReportedChangePage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ReportedChangeView>

  private var reportedChanges: ReportedChanges { identity.reportedChanges }

  func show(_ visitor: Visitor) async throws -> Response {
    let query = visitor.request.target.query
    let code = query.text("code") ?? ""
    do {
      return page(visitor, .open(try await reportedChanges.look(at: code)), code: code)
    } catch ReportedChangeError.used(let reportedChange) where query["done"] != nil {
      return page(visitor, .done(reportedChange), code: code)
    } catch let error as ReportedChangeError {
      return page(visitor, ReportedChangeState(error), code: code)
    }
  }

  func object(_ visitor: Visitor) async throws -> Response {
    let code = visitor.form.text("code") ?? ""
    do {
      try await reportedChanges.object(code, by: visitor.author)
    } catch let error as ReportedChangeError {
      return page(visitor, ReportedChangeState(error), code: code)
    }
    let query: Form = ["code": code, "done": "1"]
    return .redirect(to: query.query(of: ConsolePaths.reportedChange()))
  }

  private func page(_ visitor: Visitor, _ state: ReportedChangeState, code: String) -> Response {
    let frame = frames.outside(
      state.title, for: visitor, path: ConsolePaths.reportedChange(), of: state.reportedChange?.pool
    )
    let model = ReportedChangeView(
      frame: FrameView(frame), state: state, code: code)
    return authorizer.cookies.keeping(
      visitor, in: .html(view.render(model), status: state.status))
  }
}

enum ReportedChangeState {
  case open(ReportedChange)
  case done(ReportedChange)
  /// This link or another link for the same account was already used.
  case used(ReportedChange)
  case late(ReportedChange)
  /// The link is unknown, or the account was deleted.
  case void

  init(_ error: ReportedChangeError) {
    self =
      switch error {
      case .unknown: .void
      case .used(let reportedChange): .used(reportedChange)
      case .expired(let reportedChange): .late(reportedChange)
      }
  }

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

  var title: Message {
    switch self {
    case .open: Message("Don’t recognize this?")
    case .done: Message("Your account is locked")
    case .used: Message("This link was already used")
    case .late: Message("This link has expired")
    case .void: Message("This link is invalid")
    }
  }

  var sentence: Message? {
    switch self {
    case .open: nil
    case .done(let reportedChange) where reportedChange.pool.kind != .hosted:
      Message(
        """
        Support can’t change how you sign in until your report is reviewed. The application’s \
        administrators have been notified. If someone else can sign in, contact the application’s \
        support team.
        """)
    case .done:
      Message(
        """
        You’re signed out everywhere, and no one can change how you sign in until your report is \
        reviewed. The application’s administrators have been notified. To sign in again, reset your \
        password in the application with “Forgot password”: the link must go to the mailbox of the \
        email that led here. If you sign in without a password, contact the application’s support \
        team.
        """)
    case .used:
      Message(
        """
        A change to your account was already reported. It stays locked until the report is \
        reviewed. To add information, contact the application’s support team.
        """)
    case .late:
      Message(
        """
        Links are valid for seven days. If you didn’t make the change, contact the application’s \
        support team.
        """)
    case .void:
      Message(
        """
        Part of the link may be missing. If you didn’t make a change, contact the application’s \
        support team.
        """)
    }
  }
}

struct ReportedChangeView: ViewModel {
  let frame: FrameView
  let state: ReportedChangeState
  let code: String

  private var form: ReportedChangeForm? {
    guard case .open(let reportedChange) = state else { return nil }
    return ReportedChangeForm(frame: frame, reportedChange: reportedChange, code: code)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("title") { $0.state.title },
    .text("sentence") { $0.state.sentence },
    .optional("form") { $0.form },
  ]
}

struct ReportedChangeForm: ViewModel {
  let frame: FrameView
  let reportedChange: ReportedChange
  let code: String

  static let keys: Keys<Self> = [
    .text("action") { _ in ConsolePaths.reportedChange() },
    .text(\.code),
    .text("application") { Formatted.short($0.reportedChange.pool.projectName) },
    .text("fact") { $0.reportedChange.fact.sentence },
    .markup("at") { $0.frame.times.moment($0.reportedChange.at) },
    .markup("until") { $0.frame.times.moment($0.reportedChange.expiresAt) },
  ]
}

enum ReportedChangesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let reportedChange = try parts.page("reported-changes/reported-change", ReportedChangePage.init)
    table.open(.get, ConsolePaths.reportedChange, reportedChange.show)
    table.open(.post, ConsolePaths.reportedChange, reportedChange.object)
  }
}

extension ConsolePaths {
  /// The page that “This wasn't me” links in emails to users open.
  static let reportedChange = Path("__", "auth", "not-me")
}
