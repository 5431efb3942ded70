//! Cuts function names to a width so that they are still recognised.

use super::text::{end, width};
use crate::analysis::name_forms;

/// The name in at most `columns`: its longest form that fits, else the beginning of the function's own name.
#[must_use]
pub fn function_name(name: &str, columns: usize, ellipsis: &str) -> String {
    if width(name) <= columns {
        return name.to_string();
    }
    let forms = name_forms(name);
    let fits = forms.iter().find(|form| width(form) <= columns);
    fits.cloned().unwrap_or_else(|| end(forms.last().map_or(name, String::as_str), columns, ellipsis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cut_name_keeps_the_functions_own_name_from_its_start() {
        let push_back = "std::vector<int, std::allocator<int> >::push_back(int&&)";
        let try_from = "core::array::<impl core::convert::TryFrom<&[T]> for [T; N]>::try_from";
        let call_once = "core::ops::function::FnOnce::call_once::h0123456789abcdef";
        let lambda = "db::run(Job&)::{lambda(int)#1}::operator()(int) const";
        for (name, columns, expected) in [
            ("short", 10, "short"),
            ("db::Table::get(Key const&, Value*) const", 20, "db::Table::get"),
            (push_back, 50, "std::vector<int, std::allocator<int> >::push_back"),
            (push_back, 40, "std::vector::push_back"),
            (push_back, 20, "vector::push_back"),
            (push_back, 10, "push_back"),
            (push_back, 6, "push_…"),
            ("rocksdb::LRUCacheShard::Lookup(Slice const&)", 23, "LRUCacheShard::Lookup"),
            ("rocksdb::LRUCacheShard::Lookup(Slice const&)", 8, "Lookup"),
            ("rocksdb::LRUCacheShard::Lookup(Slice const&)", 4, "Loo…"),
            ("std::condition_variable::wait(std::unique_lock<std::mutex>&)", 4, "wait"),
            ("std::condition_variable::wait(std::unique_lock<std::mutex>&)", 3, "wa…"),
            ("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", 30, "alloc::vec::Vec::extend"),
            (try_from, 40, "core::array::[T; N]::try_from"),
            (try_from, 20, "[T; N]::try_from"),
            (call_once, 44, "core::ops::function::FnOnce::call_once"),
            (call_once, 20, "FnOnce::call_once"),
            ("core::option::Option<fn(u8) -> u8>::map::<u8>", 30, "core::option::Option::map"),
            ("void sort<int>(int*)", 12, "void sort"),
            ("void sort<int>(int*)", 6, "sort"),
            ("a_namespace::operator<< <char>(std::ostream&)", 25, "a_namespace::operator<<"),
            ("n::Functor_of_some_kind::operator()(int) const", 34, "Functor_of_some_kind::operator()"),
            ("n::Functor_of_some_kind::operator()(int) const", 12, "Functor_of_…"),
            ("a::Number::operator/(int)", 18, "Number::operator/"),
            ("(anonymous namespace)::run(Job&)", 28, "(anonymous namespace)::run"),
            ("(anonymous namespace)::run(Job&)", 24, "run"),
            ("app::run::{{closure}}", 20, "run::{{closure}}"),
            ("app::run::{{closure}}", 7, "run::{…"),
            (lambda, 30, "run::{lambda#1}::operator()"),
            ("github.com/org/pkg/server.Serve", 19, "pkg/server.Serve"),
            ("github.com/org/pkg/server.Serve", 6, "Serve"),
            ("github.com/org/pkg/server.(*Conn).Serve", 15, "(*Conn).Serve"),
            ("main.run.func1.2", 12, "run.func1.2"),
            ("long java.lang.System.currentTimeMillis()", 28, "System.currentTimeMillis"),
            ("LazyCompile:*handle /srv/app.js:10:3", 20, "LazyCompile:*handle"),
            ("py::handle:/srv/app/main.py", 11, "py::handle"),
            ("py::handle:/srv/app/main.py", 8, "handle"),
            ("schedule_hrtimeout_range_clock.isra.0", 33, "schedule_hrtimeout_range_clock"),
            ("finish_task_switch_of_something_long", 20, "finish_task_switch_…"),
            ("libjemalloc.so.2+0x7ddb0", 12, "libjemalloc…"),
            ("unbalanced<<<<<", 8, "unbalan…"),
            ("<<<<<<<<<<<<<>>>>>>>>>>>>>", 5, "<<<<…"),
            ("<unknown>", 4, "unk…"),
            ("日本語の関数の名前", 7, "日本語…"),
            ("::", 1, "…"),
            ("", 4, ""),
            ("name", 0, ""),
        ] {
            assert_eq!(function_name(name, columns, "…"), expected, "{name} {columns}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_ever_wider_than_asked(name in "[<>():a \\-名̈&]{0,60}", columns in 0_usize..40) {
            prop_assert!(width(&function_name(&name, columns, "…")) <= columns);
        }
    }

    #[test]
    fn a_name_made_to_hurt_is_cut_like_any_other() {
        for name in ["<".repeat(100_000), "(".repeat(100_000), "<a as ".repeat(20_000) + &">".repeat(20_000)] {
            assert!(width(&function_name(&name, 20, "…")) <= 20);
        }
    }
}
