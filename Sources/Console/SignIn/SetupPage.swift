import Crypto
import HTTP
import Identity
import Localization
import Templating

/// `/setup`: creates the first owner; available until there is one.
struct SetupPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<SetupView>

  func show(_ visitor: Visitor) async throws -> Response {
    guard try await identity.setup.isOpen() else {
      return .redirect(to: ConsolePaths.signIn())
    }
    return page(visitor, SetupAnswers(), errors: [])
  }

  func complete(_ visitor: Visitor) async throws -> Response {
    let answers = SetupAnswers(visitor.form)
    let new: NewConsoleSession
    do {
      new = try await identity.setup.complete(
        code: visitor.form.code("code"), email: answers.email, displayName: answers.name,
        password: Secret(visitor.form.text("password") ?? ""), address: visitor.request.peer,
        userAgent: visitor.request.fields[.userAgent] ?? "", requestID: visitor.request.id.text)
    } catch let error as JoiningError {
      return try refused(error, visitor, answers)
    } catch let error as AdministratorError {
      return page(
        visitor, answers, errors: [error.fault()], status: .unprocessableContent)
    }
    return await SignInCompletion(authorizer: authorizer, frames: frames).response(
      new, visitor)
  }

  private func refused(
    _ error: JoiningError, _ visitor: Visitor, _ answers: SetupAnswers
  ) throws -> Response {
    let fault: FieldError
    var status: Status = .unprocessableContent
    switch error {
    case .closed: return .redirect(to: ConsolePaths.signIn())
    case .wrongCode:
      fault = FieldError(
        field: "code",
        text: Message("Incorrect setup code. Use the code that the server printed at startup."))
    case .throttled(let until):
      fault = CodeFault.tooManyCodes(until: until, at: frames.clock.now())
      status = .tooManyRequests
    case .ended, .passwordSignInOff: throw error
    }
    return page(visitor, answers, errors: [fault], status: status)
  }

  private func page(
    _ visitor: Visitor, _ answers: SetupAnswers, errors: [FieldError], status: Status = .ok
  ) -> Response {
    let frame = frames.bare(
      Message("Set up"), for: visitor, path: ConsolePaths.setup(), errors: errors)
    let model = SetupView(frame: FrameView(frame), answers: answers)
    return authorizer.cookies.keeping(
      visitor, in: .html(view.render(model), status: status))
  }
}

/// The answers of the setup form as entered, except the password, which is never shown again.
struct SetupAnswers: Sendable {
  var code = ""
  var name = ""
  var email = ""

  init() {}

  init(_ form: Form) {
    code = form.trimmed("code")
    name = form.trimmed("name")
    email = form.trimmed("email")
  }
}

struct SetupView: ViewModel {
  let frame: FrameView
  let answers: SetupAnswers

  private var fields: [Field] {
    [
      .line(
        "code", Message("Setup code"), hint: Message("The server printed it at startup."),
        #" type="text" autocomplete="off" autocapitalize="off" spellcheck="false" class="mono""#,
        value: answers.code),
      .line(
        "name", Message("Your name"), hint: Message("Shown to others next to your changes."),
        #" type="text" autocomplete="name""#, value: answers.name),
      .line(
        "email", Message("Email"), hint: Message("Used to sign in."),
        #" type="email" autocomplete="username""#, value: answers.email),
      .line(
        "password", Message("Password"),
        hint: Message("At least 12 characters. A phrase of several words works well."),
        #" type="password" autocomplete="new-password""#),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { _ in ConsolePaths.setup() },
    .list("fields") { view in view.fields.map { $0.shown(nil, view.frame) } },
  ]
}

enum SetupRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let setup = try parts.page("setup/setup", SetupPage.init)
    table.open(.get, ConsolePaths.setup, setup.show)
    table.open(.post, ConsolePaths.setup, setup.complete)
  }
}

extension ConsolePaths {
  static let setup = Path("setup")
}
