import HTTP
import Metrics
import Text

/// Counts and logs the violations that browsers report, without storing them.
///
/// Reports need no authentication, since pages before the sign-in have a policy too. Anyone can
/// therefore send some: they change a counter and, 30 times a minute, write a line.
final class ViolationReports: Sendable {
  static let route = Route.Label(.post, "/csp-reports")

  private let counters = Counters()
  private let log: Log

  init(log: Log) { self.log = log }

  /// Returns the maximum size of a report; nil for another address.
  static func bodyLimit(_ target: Target) -> Int? {
    target.rawPath == route.pattern ? ViolationReport.limit : nil
  }

  /// Answers a request to the address of reports; nil for another address.
  func response(to request: Request) -> Response? {
    guard request.target.rawPath == Self.route.pattern else { return nil }
    var response = answer(request)
    response.fields[.xContentTypeOptions] = "nosniff"
    response.route = Self.route
    return response
  }

  private func answer(_ request: Request) -> Response {
    guard request.method == .post else {
      var response = Response.text("POST only\n", status: .methodNotAllowed)
      response.fields[.allow] = "POST"
      return response
    }
    guard request.mediaType?.isSameBytes(as: ViolationReport.mediaType) ?? false else {
      return .text("\(ViolationReport.mediaType) only\n", status: .unsupportedMediaType)
    }
    guard let report = ViolationReport(request.body) else {
      return .text("invalid report\n", status: .badRequest)
    }
    if let index = ViolationReport.directives.firstIndex(of: report.directive) {
      counters.add(index)
    }
    log.add(.pageViolation(report))
    return Response(status: .noContent)
  }

  /// Adds the number of violations by directive.
  func write(to exposition: inout Exposition) {
    exposition.counter(
      "countersign_csp_violations_total",
      help: "Violations of the content security policy that browsers reported, by directive.",
      ViolationReport.directives.enumerated().map { index, directive in
        Sample(counters.value(index), ["directive": directive])
      })
  }
}
