// The fields of the rows.
#include "tools/capra/pass_report.h"

#include "capra/passes/rewrite_forms.h"

namespace capra::driver {

Json changes_json(const std::vector<PassChange>& changes) {
  Json rows = Json::array();
  for (const PassChange& change : changes) {
    Json row = Json::object();
    row.set("stage", change.stage).set("graph", change.subject).set("pass", change.pass);
    row.set("effect", numeric_effect_name(change.effect));
    rows.push(row.set("before", change.before).set("after", change.after));
  }
  return rows;
}

Json rewrite_json(const Rewrite& rewrite) {
  const RewriteForms forms = forms_of(rewrite);
  Json row = Json::object();
  row.set("pass", rewrite.pass).set("rule", rewrite.rule).set("node", rewrite.node);
  return row.set("before", forms.before).set("after", forms.after);
}

Json rewrites_json(const std::vector<Rewrite>& rewrites) {
  Json rows = Json::array();
  for (const Rewrite& rewrite : rewrites) rows.push(rewrite_json(rewrite));
  return rows;
}

}  // namespace capra::driver
